"""What is said and seen at a table of Pokex: actions, and the public story of a deal."""

from dataclasses import dataclass

from referee.cards import Card

Hand = tuple[Card, ...]
Pair = tuple[int, int]
"""A number for each of the two sides."""


@dataclass(frozen=True, slots=True)
class PassBid:
    """Bids nothing this time."""


@dataclass(frozen=True, slots=True)
class Bid:
    """Bids so many tricks, 1 to 6, more than the standing bid."""

    tricks: int


@dataclass(frozen=True, slots=True)
class NameWild:
    """Names the rank that is wild."""

    rank: str


@dataclass(frozen=True, slots=True)
class PlayPair:
    """Plays two cards of the hand (four seats)."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PlayCard:
    """Plays one card of the hand (two seats)."""

    card: Card


@dataclass(frozen=True, slots=True)
class PokexCall:
    """What a seat said in the auction; 0 tricks is a pass."""

    seat: int
    tricks: int


@dataclass(frozen=True, slots=True)
class PokexPlayed:
    """The cards that a seat played at once: two with four seats, one with two."""

    seat: int
    cards: Hand


@dataclass(frozen=True, slots=True)
class PokexTrick:
    """A trick that is over; ``taken``: by side, 1 for who took it, both 0 if nobody did."""

    centre: Hand
    played: tuple[PokexPlayed, ...]
    taken: Pair


@dataclass(frozen=True, slots=True)
class PokexDeal:
    """A deal that is over, with its tricks and points by side."""

    dealer: int
    centre: Hand
    auction: tuple[PokexCall, ...]
    bid: int
    declarer: int
    wild_rank: str
    tricks: tuple[PokexTrick, ...]
    taken: Pair
    points: Pair


@dataclass(frozen=True, slots=True)
class PokexView:
    """What a seat sees; the fields are explained in pokex.proto."""

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
