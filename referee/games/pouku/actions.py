"""Actions and views of Pouku, and the public history of a deal."""

from dataclasses import dataclass

from referee.games.shared.cards import Card, Hand
from referee.games.shared.fast_values import fast_value


@dataclass(frozen=True, slots=True)
class Discard:
    """Discard a card of the hand to the seat's field, after an optional keep."""

    card: Card
    keep: Hand = ()
    """One card of the hand and cards of other fields that form one yaku; empty without a keep."""


@dataclass(frozen=True, slots=True)
class Give:
    """Discard a card of the hand to the teammate's field, after an optional keep."""

    card: Card
    keep: Hand = ()


@dataclass(frozen=True, slots=True)
class GoOut:
    """End the deal with the best set of yaku."""


@dataclass(frozen=True, slots=True)
class PoukuCards:
    """A group of cards."""

    cards: Hand


@fast_value
@dataclass(frozen=True, slots=True)
class PoukuTurn:
    """The public part of a turn."""

    seat: int
    keep: Hand
    discard: Card
    field: int


@fast_value
@dataclass(frozen=True, slots=True)
class PoukuYaku:
    """A scoring combination: its name, cards and points."""

    name: str
    cards: Hand
    worth: int


@fast_value
@dataclass(frozen=True, slots=True)
class PoukuDeal:
    """The public part of a finished deal."""

    dealer: int
    point_card: Card
    void: bool
    winner: int
    hand: Hand
    yaku: tuple[PoukuYaku, ...]
    worth: int
    points: tuple[int, ...]
    fields: tuple[PoukuCards, ...]
    turns: tuple[PoukuTurn, ...]


@fast_value
@dataclass(frozen=True, slots=True)
class PoukuView:
    """The view of a seat; pouku.proto explains the fields."""

    pair: int
    three: int
    straight: int
    four: int
    point: int
    four_yaku: int
    first_turn: int
    teams: bool
    reference: tuple[int, ...]
    deal: int
    dealer: int
    turn: int
    point_card: Card
    hand: Hand
    drawn: str
    worth: int
    fields: tuple[PoukuCards, ...]
    kept: tuple[PoukuCards, ...]
    may_keep: bool
    stock: int
    hand_sizes: tuple[int, ...]
    scores: tuple[int, ...]
    turns: tuple[PoukuTurn, ...]
    deals: tuple[PoukuDeal, ...]
    points: int = 0
