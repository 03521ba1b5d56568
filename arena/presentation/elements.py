"""What there is to be drawn of a position: names, cards face up or down, dominoes, numbers.

A scene is made from views alone, so nothing is drawn that its viewers may not know. It says what
lies where, not how it looks; every part is immutable and equal to another that looks the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from referee.cards import Card
from referee.dominoes import Tile

FRESH = "fresh"
"""The mark of what the last action did."""
WON = "won"
WILD = "wild"
POINT = "point"
GONE = "gone"
KNOWN = "known"
"""The mark of a card that everybody knows to be in a hand."""


@dataclass(frozen=True, slots=True)
class Face:
    """A card face up."""

    card: Card
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards side by side: some face up, then some face down."""

    faces: tuple[Face, ...] = ()
    backs: int = 0
    note: str = ""
    """What is to be said of them: "full house"."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Dominoes side by side: some face up, then some face down."""

    tiles: tuple[Tile, ...] = ()
    backs: int = 0
    note: str = ""


Held = Cards | Tiles


@dataclass(frozen=True, slots=True)
class Row:
    """Cards or dominoes that everybody sees alike."""

    kind: ClassVar[str] = "row"
    key: str
    """What it is called among the parts of its place, to follow it from scene to scene."""
    label: str
    held: Held


@dataclass(frozen=True, slots=True)
class Secret:
    """Cards or dominoes that one seat knows, and what the others see of them."""

    kind: ClassVar[str] = "secret"
    key: str
    label: str
    seat: int
    opened: Held | None
    """As the seat sees them; None if these eyes are not among the viewers."""
    closed: Held
    """As everybody sees them."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Labelled rows of cards that belong together."""

    kind: ClassVar[str] = "lines"
    key: str
    label: str
    rows: tuple[tuple[str, Cards], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A place in a sheet: the cards that one side or the centre gave to a trick."""

    cards: Cards = Cards()
    won: bool = False
    led: bool = False
    now: bool = False
    """Whether it is of the trick that is being played."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The tricks of a deal: a column a trick, a row a seat."""

    kind: ClassVar[str] = "sheet"
    key: str
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pad:
    """Numbers in rows and columns, the score pad; the first column names the rows."""

    kind: ClassVar[str] = "pad"
    key: str
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    foot: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """Something on Pokino's grid; x grows to the right, y downwards, in squares."""

    what: str
    """ "domino", "token", "fresh", or "edge", the name of a row or column"""
    x: float
    y: float
    second_x: float
    second_y: float
    text: str
    """A domino's numbers, the one on (x, y) first: "3-12"; what is written on an edge."""
    seat: int = -1
    """Whose it is; -1 if nobody's."""


@dataclass(frozen=True, slots=True)
class Board:
    """Dominoes and tokens on the grid."""

    kind: ClassVar[str] = "board"
    key: str
    label: str
    pieces: tuple[Piece, ...]
    bounds: tuple[int, int, int, int]
    """The first and last column, the first and last row that are used."""
    words: str
    """How much lies there, in words."""


Area = Row | Secret | Lines | Sheet | Pad | Board


@dataclass(frozen=True, slots=True)
class Badge:
    """A short fact about a seat."""

    text: str
    tone: str = ""
    """ "good", "bad" or "plain" """


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits where, and what lies there."""

    number: int
    name: str
    side: int
    score: int
    acts: bool
    badges: tuple[Badge, ...]
    areas: tuple[Area, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A position to be drawn."""

    chapter: int
    """The deal or round, from 0."""
    heading: str
    """Deal or round, and what is asked now."""
    facts: tuple[str, ...]
    seats: tuple[Seat, ...]
    centre: tuple[Area, ...]
    below: tuple[Area, ...] = ()
    """Score pads."""


@dataclass(frozen=True, slots=True)
class Table:
    """Who plays, and who is asked now."""

    names: tuple[str, ...]
    """By seat."""
    sides: tuple[int, ...]
    scores: tuple[int, ...]
    actors: tuple[int, ...]

    def seat(self, number: int, badges: Sequence[Badge], areas: Sequence[Area]) -> Seat:
        """A seat of the scene."""
        return Seat(
            number,
            self.names[number],
            self.sides[number],
            self.scores[number],
            number in self.actors,
            tuple(badges),
            tuple(areas),
        )


class Drawing(Protocol):
    """How the positions of one game are drawn."""

    def __call__(self, public: Any, hands: Mapping[int, Any], table: Table) -> Scene:
        """The scene.

        Args:
            public: the view of one who only watches: nothing of it is private.
            hands: the views of the seats whose eyes are open.
            table: who plays.
        """


def faces(cards: Sequence[Card], *marks: str) -> tuple[Face, ...]:
    """Cards face up, all with these marks."""
    return tuple(Face(card, marks) for card in cards)


def shown(cards: Sequence[Card], *marks: str) -> Cards:
    """Cards that lie face up."""
    return Cards(faces(cards, *marks))


def signed(number: int) -> str:
    """A number with its sign; the minus is as wide as the plus."""
    return f"+{number}" if number > 0 else f"−{-number}" if number else "0"
