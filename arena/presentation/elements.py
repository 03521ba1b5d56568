"""Elements of a rendered position: names, cards face up or down, dominoes, numbers.

A scene is made only from views, so it contains only information available to its viewers. It
describes positions of elements, not their appearance. Every element is immutable and
compares equal to one with the same appearance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from referee.games.shared.cards import Card
from referee.games.shared.dominoes import Tile

FRESH = "fresh"
"""Mark of the elements changed by the last action."""
WON = "won"
WILD = "wild"
POINT = "point"
GONE = "gone"
KNOWN = "known"
"""Mark of a card in a hand that is public knowledge."""


@dataclass(frozen=True, slots=True)
class Face:
    """A card face up."""

    card: Card
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards side by side: first those face up, then those face down."""

    faces: tuple[Face, ...] = ()
    backs: int = 0
    note: str = ""
    """Annotation of the cards: "full house"."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Dominoes side by side: first those face up, then those face down."""

    tiles: tuple[Tile, ...] = ()
    backs: int = 0
    note: str = ""


Held = Cards | Tiles


@dataclass(frozen=True, slots=True)
class Row:
    """Public cards or dominoes."""

    kind: ClassVar[str] = "row"
    key: str
    """Identifies the part at its place, to track it from scene to scene."""
    label: str
    held: Held


@dataclass(frozen=True, slots=True)
class Secret:
    """Cards or dominoes that only one seat can see, and their public appearance."""

    kind: ClassVar[str] = "secret"
    key: str
    label: str
    seat: int
    opened: Held | None
    """As the seat sees them; None if the seat's view is not open."""
    closed: Held
    """As the public sees them."""


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
    """A cell of a sheet: the cards that one side or the centre contributed to a trick."""

    cards: Cards = Cards()
    won: bool = False
    led: bool = False
    now: bool = False
    """Whether the trick is being played."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The tricks of a deal: one column per trick, one row per seat."""

    kind: ClassVar[str] = "sheet"
    key: str
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pad:
    """Score pad: numbers in rows and columns; the first column names the rows."""

    kind: ClassVar[str] = "pad"
    key: str
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    foot: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """An element on Pokino's grid; x grows to the right, y downwards, in squares."""

    what: str
    """"domino", "token", "fresh", or "edge", the name of a row or column"""
    x: float
    y: float
    second_x: float
    second_y: float
    text: str
    """Numbers of a domino, the one on (x, y) first: "3-12"; or the label of an edge."""
    seat: int = -1
    """Seat of the owner; -1 if it has none."""


@dataclass(frozen=True, slots=True)
class Board:
    """Dominoes and tokens on the grid."""

    kind: ClassVar[str] = "board"
    key: str
    label: str
    pieces: tuple[Piece, ...]
    bounds: tuple[int, int, int, int]
    """The first and last column, then the first and last row in use."""
    words: str
    """Text that counts the elements."""


Area = Row | Secret | Lines | Sheet | Pad | Board


@dataclass(frozen=True, slots=True)
class Badge:
    """A short fact about a seat."""

    text: str
    tone: str = ""
    """ "good", "bad" or "plain" """


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat with its player and its cards."""

    number: int
    name: str
    side: int
    score: int
    acts: bool
    badges: tuple[Badge, ...]
    areas: tuple[Area, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A position to be rendered."""

    chapter: int
    """Number of the deal or round, from 0."""
    heading: str
    """Deal or round, and the current phase."""
    facts: tuple[str, ...]
    seats: tuple[Seat, ...]
    centre: tuple[Area, ...]
    below: tuple[Area, ...] = ()
    """Score pads."""


@dataclass(frozen=True, slots=True)
class Table:
    """The players, and the seats to act."""

    names: tuple[str, ...]
    """Names by seat."""
    sides: tuple[int, ...]
    scores: tuple[int, ...]
    actors: tuple[int, ...]

    def seat(self, number: int, badges: Sequence[Badge], areas: Sequence[Area]) -> Seat:
        """Return a seat of the scene."""
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
    """Renders the positions of one game."""

    def __call__(self, public: Any, hands: Mapping[int, Any], table: Table) -> Scene:
        """Return the scene.

        Args:
            public: the view of a spectator, without private information.
            hands: the views of the seats whose hands are open.
            table: the players.
        """


def faces(cards: Sequence[Card], *marks: str) -> tuple[Face, ...]:
    """Return cards face up, all with these marks."""
    return tuple(Face(card, marks) for card in cards)


def shown(cards: Sequence[Card], *marks: str) -> Cards:
    """Return cards that lie face up."""
    return Cards(faces(cards, *marks))


def signed(number: int) -> str:
    """Return a number with its sign; the minus sign is as wide as the plus sign."""
    return f"+{number}" if number > 0 else f"−{-number}" if number else "0"
