"""The words of Pokino: its actions, and what a seat sees (docs/rules/pokino.md)."""

from dataclasses import dataclass

from referee.cards import Card
from referee.dominoes import Tile

Hand = tuple[Card, ...]
Tiles = tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class PokinoSquare:
    """A square of the grid; x grows to the right, y downwards."""

    x: int
    y: int

    def __str__(self) -> str:
        return f"{self.x},{self.y}"


@dataclass(frozen=True, slots=True)
class PassTurn:
    """Does nothing but draw."""

    draw: bool = True


@dataclass(frozen=True, slots=True)
class Domino:
    """Lays a domino of the hand: its smaller number on (x, y), the other one step on."""

    domino: Tile
    x: int
    y: int
    direction: str
    """ "right", "down", "left" or "up" """
    draw: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """Plays cards that match a path of squares, in its order."""

    path: tuple[PokinoSquare, ...]
    cards: Hand
    draw: bool = True


@dataclass(frozen=True, slots=True)
class PokinoCards:
    """A few cards."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PokinoTile:
    """A face-up domino: its smaller number lies on (x, y), the other beside it."""

    domino: Tile
    x: int
    y: int
    second_x: int
    second_y: int


@dataclass(frozen=True, slots=True)
class PokinoToken:
    """A token on the border of two squares, the left or upper one first."""

    x: int
    y: int
    second_x: int
    second_y: int
    owner: int
    """A seat with the variant territory; otherwise 0, for nobody is remembered."""


@dataclass(frozen=True, slots=True)
class PokinoRun:
    """A run that lies before the seat that played it."""

    seat: int
    cards: Hand


@dataclass(frozen=True, slots=True)
class PokinoTurn:
    """A turn as everybody saw it; a pass if nothing was laid or played."""

    seat: int
    domino: str
    """What was laid."""
    run: Hand
    """The cards that were played."""
    drawn: str
    """The card that was drawn from the deck."""


@dataclass(frozen=True, slots=True)
class PokinoView:
    """What a seat sees; the fields are explained in pokino.proto."""

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
