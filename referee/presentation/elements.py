"""Elements of a rendered position: names, cards face up or down, dominoes, numbers.

A rendering is made only from views, so it contains only information available to its viewers. It
describes positions of elements, not their appearance. Every element is immutable and
compares equal to one with the same appearance.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from referee.games.shared.cards import Card
from referee.games.shared.dominoes import Tile
from referee.games.shared.poker import HandValue
from referee.games.shared.wild_cards import WildValue

FRESH = "fresh"
"""Mark of the elements changed by the last action."""
WON = "won"
WILD = "wild"
POINT = "point"
GONE = "gone"
NEW = "new"
"""Mark of a card or domino that its owner got since the last decision."""
KNOWN = "known"
"""Mark of a card in a hand that is public knowledge."""
_RANKS = {
    2: "twos", 3: "threes", 4: "fours", 5: "fives", 6: "sixes", 7: "sevens", 8: "eights",
    9: "nines", 10: "tens", 11: "jacks", 12: "queens", 13: "kings", 14: "aces",
}  # fmt: skip
_TOPS = {
    2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight",
    9: "nine", 10: "ten", 11: "jack", 12: "queen", 13: "king", 14: "ace",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FaceUpCard:
    """A card face up."""

    card: Card
    marks: tuple[str, ...] = ()
    is_control: bool = False
    """Whether a person selects actions with it (`referee.presentation.selection`)."""


@dataclass(frozen=True, slots=True)
class CardGroup:
    """Cards side by side: first those face up, then those face down."""

    faces: tuple[FaceUpCard, ...] = ()
    backs: int = 0
    note: str = ""
    """Annotation of the cards: "full house"."""


@dataclass(frozen=True, slots=True)
class DominoGroup:
    """Dominoes side by side: first those face up, then those face down."""

    tiles: tuple[Tile, ...] = ()
    backs: int = 0
    note: str = ""
    controls: tuple[Tile, ...] = ()
    """The dominoes with which a person selects actions."""
    new: tuple[Tile, ...] = ()
    """The dominoes that their owner got since the last decision."""


Group = CardGroup | DominoGroup


@dataclass(frozen=True, slots=True)
class OpenCards:
    """Public cards or dominoes."""

    kind: ClassVar[str] = "row"
    key: str
    """Identifies the part at its place, to track it from rendering to rendering."""
    label: str
    held: Group


@dataclass(frozen=True, slots=True)
class PrivateCards:
    """Cards or dominoes that only one seat can see, and their public appearance."""

    kind: ClassVar[str] = "secret"
    key: str
    label: str
    seat: int
    opened: Group | None
    """As the seat sees them; None if the seat's view is not open."""
    closed: Group
    """As the public sees them."""


@dataclass(frozen=True, slots=True)
class CardLines:
    """Labelled rows of cards that belong together."""

    kind: ClassVar[str] = "lines"
    key: str
    label: str
    rows: tuple[tuple[str, CardGroup], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class TrickCell:
    """A cell of a trick table: the cards that one side or the centre contributed to a trick."""

    cards: CardGroup = CardGroup()
    won: bool = False
    led: bool = False
    now: bool = False
    """Whether the trick is being played."""


@dataclass(frozen=True, slots=True)
class TrickTable:
    """The tricks of a deal: one column per trick, one row per seat."""

    kind: ClassVar[str] = "trick_table"
    key: str
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TrickCell, ...]], ...]
    note: str = ""


def trick_table(
    key: str, label: str, columns: Sequence[Sequence[TrickCell]], names: Sequence[str], note: str
) -> TrickTable:
    """Return tricks as a table; each column has a cell for each name."""
    heads = tuple(str(number) for number in range(1, len(columns) + 1))
    rows = tuple((name, tuple(column[row] for column in columns)) for row, name in enumerate(names))
    return TrickTable(key, label, heads, rows, note)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Table of scores: numbers in rows and columns; the first column names the rows."""

    kind: ClassVar[str] = "score_table"
    key: str
    label: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    foot: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class GridPiece:
    """An element on Pokino's grid; x grows to the right, y downwards, in squares."""

    what: str
    """"domino"; "token"; "run", a step of the latest run; "fresh" or "fresh-token", a mark"""
    x: float
    y: float
    second_x: float
    second_y: float
    text: str
    """Numbers of a domino, the one on (x, y) first: "3-12"; or the label of an edge."""
    seat: int = -1
    """Seat of the owner; -1 if it has none."""


@dataclass(frozen=True, slots=True)
class DominoLayout:
    """Dominoes and tokens on the grid."""

    kind: ClassVar[str] = "board"
    key: str
    label: str
    pieces: tuple[GridPiece, ...]
    bounds: tuple[int, int, int, int]
    """The first and last column, then the first and last row in use."""
    words: str
    """Text that counts the elements."""
    squares: tuple[tuple[int, int], ...] = ()
    """The squares with which a person selects actions."""


Area = OpenCards | PrivateCards | CardLines | TrickTable | ScoreTable | DominoLayout


@dataclass(frozen=True, slots=True)
class PublicAction:
    """An action as every seat sees it."""

    seat: int
    phrase: str
    """Its public part in the third person: "leads 4C 4H"."""
    chapter: int = 0
    """Number of its deal or round, from 0."""

    @staticmethod
    def numbered(chapters: Iterable[Iterable["PublicAction"]]) -> list["PublicAction"]:
        """Return the actions of all deals or rounds, with their numbers."""
        return [replace(done, chapter=n) for n, actions in enumerate(chapters) for done in actions]


@dataclass(frozen=True, slots=True)
class Badge:
    """A short fact about a seat."""

    text: str
    tone: str = ""
    """ "good", "bad" or "plain" """


@dataclass(frozen=True, slots=True)
class SeatRendering:
    """A seat with its player and its cards."""

    number: int
    name: str
    side: int
    score: int
    is_to_act: bool
    badges: tuple[Badge, ...]
    areas: tuple[Area, ...]


@dataclass(frozen=True, slots=True)
class TableRendering:
    """A position to be rendered."""

    chapter: int
    """Number of the deal or round, from 0."""
    heading: str
    """Deal or round, and the current phase."""
    facts: tuple[str, ...]
    seats: tuple[SeatRendering, ...]
    centre: tuple[Area, ...]
    below: tuple[Area, ...] = ()
    """Tables of scores."""


@dataclass(frozen=True, slots=True)
class Players:
    """The players, and the seats to act."""

    names: tuple[str, ...]
    """Names by seat."""
    sides: tuple[int, ...]
    scores: tuple[int, ...]
    actors: tuple[int, ...]

    def seat(self, number: int, badges: Sequence[Badge], areas: Sequence[Area]) -> SeatRendering:
        """Return a seat of the rendering."""
        return SeatRendering(
            number,
            self.names[number],
            self.sides[number],
            self.scores[number],
            number in self.actors,
            tuple(badges),
            tuple(areas),
        )


def faces(cards: Sequence[Card], *marks: str) -> tuple[FaceUpCard, ...]:
    """Return cards face up, all with these marks."""
    return tuple(FaceUpCard(card, marks) for card in cards)


def known_faces(hand: Sequence[Card], known: Sequence[Card], last: str) -> tuple[FaceUpCard, ...]:
    """Return a hand with marks on cards that were drawn in public and on the last of them."""
    return tuple(
        FaceUpCard(card, (KNOWN,) * (card in known) + (FRESH,) * (card == last)) for card in hand
    )


def face_up(cards: Sequence[Card], *marks: str) -> CardGroup:
    """Return cards that lie face up."""
    return CardGroup(faces(cards, *marks))


def signed(number: int) -> str:
    """Return a number with its sign; the minus sign is as wide as the plus sign."""
    return f"+{number}" if number > 0 else f"−{-number}" if number else "0"


def category(value: HandValue | WildValue) -> str:
    """Return the name of a hand: "two pairs, kings and fours"."""
    name = value.category.name.lower().replace("_", " ")
    first, *others = value.ranks
    match name:
        case "two pairs" | "full house":
            return f"{name}, {_RANKS[first]} and {_RANKS[others[0]]}"
        case "pair":
            return f"pair of {_RANKS[first]}"
        case "three of a kind" | "four of a kind" | "five of a kind":
            return f"{name.split()[0]} {_RANKS[first]}"
        case "high card":
            return f"{_TOPS[first]} high"
        case "straight flush" if first == 14:
            return "royal flush"
    return f"{name} to the {_TOPS[first]}"
