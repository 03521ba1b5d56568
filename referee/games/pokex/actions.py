"""Actions and views of Pokex, and the public history of a deal."""

from dataclasses import dataclass

from referee.games.shared.cards import Card, Hand
from referee.games.shared.fast_values import fast_value

Pair = tuple[int, int]
"""A number per side."""


@dataclass(frozen=True, slots=True)
class PassBid:
    """Pass in the auction."""


@dataclass(frozen=True, slots=True)
class Bid:
    """Bid a number of tricks, 1 to 6, above the standing bid."""

    tricks: int


@dataclass(frozen=True, slots=True)
class NameWild:
    """Name the wild rank."""

    rank: str


@dataclass(frozen=True, slots=True)
class PlayPair:
    """Play two cards of the hand (four seats)."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PlayCard:
    """Play one card of the hand (two seats)."""

    card: Card


@dataclass(frozen=True, slots=True)
class PokexCall:
    """A call in the auction; 0 tricks means a pass."""

    seat: int
    tricks: int


@dataclass(frozen=True, slots=True)
class PokexPlayed:
    """Cards that a seat played at once: two with four seats, one with two."""

    seat: int
    cards: Hand


@fast_value
@dataclass(frozen=True, slots=True)
class PokexTrick:
    """A finished trick; ``taken``, by side: 1 for its winner, both 0 without a winner."""

    centre: Hand
    played: tuple[PokexPlayed, ...]
    taken: Pair


@fast_value
@dataclass(frozen=True, slots=True)
class PokexDeal:
    """A finished deal with its tricks and points by side."""

    dealer: int
    centre: Hand
    auction: tuple[PokexCall, ...]
    bid: int
    declarer: int
    wild_rank: str
    tricks: tuple[PokexTrick, ...]
    taken: Pair
    points: Pair


@fast_value
@dataclass(frozen=True, slots=True)
class PokexView:
    """The view of a seat; pokex.proto explains the fields."""

    deal: int
    dealer: int
    phase: str
    hand: Hand
    centre: Hand
    auction: tuple[PokexCall, ...]
    bid: int
    declarer: int
    wild_rank: str
    turned: Hand
    played: tuple[PokexPlayed, ...]
    tricks: tuple[PokexTrick, ...]
    taken: Pair
    points: Pair
    deals: tuple[PokexDeal, ...]
