"""What is said and seen at a table of Pouku: actions, and the public story of a deal."""

from dataclasses import dataclass

from referee.cards import Card

Hand = tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Discard:
    """Perhaps keeps, then discards a card of the hand to the own field."""

    card: Card
    keep: Hand = ()
    """One card of the hand and cards of other fields, together one yaku; none: no keep."""


@dataclass(frozen=True, slots=True)
class Give:
    """Perhaps keeps, then discards a card of the hand to the teammate's field."""

    card: Card
    keep: Hand = ()


@dataclass(frozen=True, slots=True)
class GoOut:
    """Ends the deal with the best set of yaku."""


@dataclass(frozen=True, slots=True)
class PoukuCards:
    """A few cards."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PoukuTurn:
    """A turn as everybody saw it."""

    seat: int
    keep: Hand
    discard: Card
    field: int


@dataclass(frozen=True, slots=True)
class PoukuYaku:
    """A scoring combination: its name, its cards, its worth."""

    name: str
    cards: Hand
    worth: int


@dataclass(frozen=True, slots=True)
class PoukuDeal:
    """A deal that is over: all that everybody saw of it."""

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


@dataclass(frozen=True, slots=True)
class PoukuView:
    """What a seat sees; the fields are explained in pouku.proto."""

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
