"""What is said and seen at a table of Poke: actions, and the public story of a deal."""

from dataclasses import dataclass

from referee.cards import Card

Hand = tuple[Card, ...]
Pair = tuple[int, int]
"""A number for each of the two seats."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Keeps the hand and is done drawing."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Discards 1 to 3 cards and draws as many."""

    discards: Hand


@dataclass(frozen=True, slots=True)
class Lead:
    """Leads 1 to 4 cards of one rank."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers a lead with exactly as many cards."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PokeDrawn:
    """A draw as everybody saw it; 0 cards is a stand."""

    seat: int
    cards: int


@dataclass(frozen=True, slots=True)
class PokeTrick:
    """A lead, its answer and who won; each card of the winner is one trick."""

    leader: int
    lead: Hand
    answer: Hand
    winner: int


@dataclass(frozen=True, slots=True)
class PokeDeal:
    """A deal that is over, with the points it gave by seat."""

    dealer: int
    drawn: tuple[PokeDrawn, ...]
    tricks: tuple[PokeTrick, ...]
    below: Pair
    above: Pair


@dataclass(frozen=True, slots=True)
class PokeView:
    """What a seat sees; the fields are explained in poke.proto."""

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
