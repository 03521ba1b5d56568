"""Legal placements of dominoes in Pokino (docs/rules/pokino.md, K-4)."""

from functools import cache, lru_cache

from referee.games.contract import ActionArguments, constructed
from referee.games.pokino.actions import Domino
from referee.games.pokino.layout import (
    STEPS,
    Ground,
    coordinates,
    ends,
    is_central,
    is_within,
    pair,
    square,
    within,
)
from referee.games.shared.dominoes import NUMBERS, Tile


def may_lay(action: Domino, hand: tuple[Tile, ...], ground: Ground) -> bool:
    """Return whether a placement is legal.

    The domino must be held, fit on two free squares of the grid and touch another domino.
    """
    if action.domino not in hand or not within(action.x, action.y):
        return False
    if action.direction not in STEPS:
        return False
    first, second = squares(action)
    if not ground.numbers:
        return is_within(pair(first, second))
    return ground.is_place(pair(first, second))


def squares(action: Domino) -> tuple[int, int]:
    """Return the two squares, that of the smaller number first.

    For a double, the left or upper square is first.
    """
    first = square(action.x, action.y)
    second = first + STEPS[action.direction]
    low, high = NUMBERS[action.domino]
    return (second, first) if low == high and second < first else (first, second)


_fields = tuple(getattr(Domino, name).__set__ for name in ("domino", "x", "y", "direction", "draw"))


def _made(domino: Tile, place: int, backwards: bool, draw: bool) -> Domino:
    """Construct the action that lays a domino on a place.

    It bypasses the constructor, which would dominate the cost of listing hundreds of actions.
    """
    x, y, direction = _start(place, backwards)
    domino_, x_, y_, direction_, draw_ = _fields
    made: Domino = object.__new__(Domino)
    domino_(made, domino)
    x_(made, x)
    y_(made, y)
    direction_(made, direction)
    draw_(made, draw)
    return made


@lru_cache(1 << 12)
def _start(place: int, backwards: bool) -> tuple[int, int, str]:
    """Return the coordinates of a domino's smaller number on a place, and its direction."""
    first = ends(place)[backwards]
    return *coordinates(first), _DIRECTIONS[backwards][place & 1]


_ONE_WAY: tuple[bool, ...] = (False,)
_BOTH_WAYS: tuple[bool, ...] = (False, True)
_DIRECTIONS = ("right", "down"), ("left", "up")


class _Ways(dict[int, Domino]):
    """Actions of one domino in one orientation, by place.

    Those near the middle of the table, nearly all that are listed, are cached.
    """

    def __init__(self, domino: Tile, backwards: bool, draw: bool) -> None:
        super().__init__()
        self._word = (domino, backwards, draw)

    def __missing__(self, place: int) -> Domino:
        domino, backwards, draw = self._word
        made = _made(domino, place, backwards, draw)
        if is_central(place >> 1):
            self[place] = made
        return made


_ways = cache(_Ways)


def placements(hand: tuple[Tile, ...], ground: Ground, draw: bool) -> ActionArguments:
    """Yield all placements of the hand's dominoes; a double has one orientation.

    On an empty table, only those with the first number on (0, 0) are listed.
    """
    if ground.numbers:
        for domino, backwards in _ways_round(hand):
            yield _ways(domino, backwards, draw).__getitem__, ground.places
    else:
        yield constructed, [Domino(d, 0, 0, way, draw) for d in hand for way in STEPS]


def placement(hand: tuple[Tile, ...], ground: Ground, draw: bool, number: int) -> Domino:
    """Return the item of :func:`placements` with this index, from 0."""
    if not ground.numbers:
        held, direction = divmod(number, len(STEPS))
        return Domino(hand[held], 0, 0, tuple(STEPS)[direction], draw)
    way, at = divmod(number, len(ground.places))
    domino, backwards = _ways_round(hand)[way]
    return _made(domino, ground.places[at], backwards, draw)


@lru_cache(1 << 12)
def _ways_round(hand: tuple[Tile, ...]) -> tuple[tuple[Tile, bool], ...]:
    """Return the dominoes of a hand with their orientations."""
    return tuple(
        (domino, backwards)
        for domino in hand
        for backwards in (_ONE_WAY if _is_double(domino) else _BOTH_WAYS)
    )


def count(hand: tuple[Tile, ...], ground: Ground) -> int:
    """Return the number of items in :func:`placements`."""
    if not ground.numbers:
        return len(hand) * len(STEPS)
    return len(ground.places) * len(_ways_round(hand))


def _is_double(domino: Tile) -> bool:
    low, high = NUMBERS[domino]
    return low == high
