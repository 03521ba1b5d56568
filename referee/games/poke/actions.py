"""Actions and views of Poke, and the public history of a deal."""

from dataclasses import dataclass

from referee.games.shared.cards import Hand
from referee.games.shared.fast_values import fast_value

Pair = tuple[int, int]
"""A number per seat."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Keep the hand and end drawing."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Discard 1 to 3 cards and draw the same number."""

    discards: Hand


@dataclass(frozen=True, slots=True)
class Lead:
    """Lead 1 to 4 cards of one rank."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a lead with the same number of cards."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PokeDrawn:
    """The public part of a draw; 0 cards means a stand."""

    seat: int
    cards: int


@fast_value
@dataclass(frozen=True, slots=True)
class PokeTrick:
    """A lead, its answer and the winner; each card of the winner counts as one trick."""

    leader: int
    lead: Hand
    answer: Hand
    winner: int


@fast_value
@dataclass(frozen=True, slots=True)
class PokeDeal:
    """A finished deal with its points by seat."""

    dealer: int
    drawn: tuple[PokeDrawn, ...]
    tricks: tuple[PokeTrick, ...]
    below: Pair
    above: Pair


@fast_value
@dataclass(frozen=True, slots=True)
class PokeView:
    """The view of a seat; poke.proto explains the fields."""

    must_beat: bool
    deal: int
    dealer: int
    phase: str
    hand: Hand
    discards: Hand
    below: Pair
    above: Pair
    legs: Pair
    multipliers: Pair
    drawn: tuple[PokeDrawn, ...]
    tricks: tuple[PokeTrick, ...]
    lead: Hand
    deals: tuple[PokeDeal, ...]
