"""Actions and views of Pokino (docs/rules/pokino.md)."""

from dataclasses import dataclass

from referee.games.shared.cards import Hand
from referee.games.shared.dominoes import Tile
from referee.games.shared.fast_values import fast_value

Tiles = tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class PokinoSquare:
    """A square of the grid; x increases to the right, y downwards."""

    x: int
    y: int

    def __str__(self) -> str:
        return f"{self.x},{self.y}"


@dataclass(frozen=True, slots=True)
class PassTurn:
    """Pass the turn, except for the draw."""

    draw: bool = True


@dataclass(frozen=True, slots=True)
class Domino:
    """Lay a domino of the hand: its smaller number on (x, y), the other one step further."""

    domino: Tile
    x: int
    y: int
    direction: str
    """ "right", "down", "left" or "up" """
    draw: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """Play cards that match a path of squares, in its order."""

    path: tuple[PokinoSquare, ...]
    cards: Hand
    draw: bool = True


@dataclass(frozen=True, slots=True)
class PokinoCards:
    """A group of cards."""

    cards: Hand


@fast_value
@dataclass(frozen=True, slots=True)
class PokinoTile:
    """A face-up domino with its smaller number on (x, y) and the other on the second square."""

    domino: Tile
    x: int
    y: int
    second_x: int
    second_y: int


@fast_value
@dataclass(frozen=True, slots=True)
class PokinoToken:
    """A token on the border of two squares, the left or upper one first."""

    x: int
    y: int
    second_x: int
    second_y: int
    owner: int
    """The owner's seat with the variant territory; otherwise 0, because owners are not recorded."""


@dataclass(frozen=True, slots=True)
class PokinoRun:
    """A run in front of the seat that played it."""

    seat: int
    cards: Hand


@fast_value
@dataclass(frozen=True, slots=True)
class PokinoTurn:
    """The public part of a turn; a pass has neither a domino nor a run."""

    seat: int
    domino: str
    """The domino laid."""
    run: Hand
    """The cards played."""
    drawn: str
    """The card drawn from the deck."""


@fast_value
@dataclass(frozen=True, slots=True)
class PokinoView:
    """The view of a seat; pokino.proto explains the fields."""

    greed: bool
    pokino_up: bool
    tear_down_the_walls: bool
    territory: bool
    turn: int
    hand: Hand
    dominoes: Tiles
    beads: tuple[int, ...]
    scores: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    domino_counts: tuple[int, ...]
    known: tuple[PokinoCards, ...]
    runs: tuple[PokinoRun, ...]
    layout: tuple[PokinoTile, ...]
    tokens: tuple[PokinoToken, ...]
    removed: Tiles
    deck_top: str
    deck_size: int
    poke_size: int
    idle: int
    over: bool
    pokino: bool
    turns: tuple[PokinoTurn, ...]
