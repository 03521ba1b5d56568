"""Where a domino may be laid in Pokino (docs/rules/pokino.md, K-4)."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

from referee.dominoes import NUMBERS, Tile
from referee.games.pokino.grid import STEPS, coordinates, ends, is_central, square, within
from referee.games.pokino.ground import Ground
from referee.games.pokino.words import Domino


def may_lay(action: Domino, hand: tuple[Tile, ...], ground: Ground) -> bool:
    """Whether the domino is held, its squares are free and in bounds, and it touches another."""
    if action.domino not in hand or not within(action.x, action.y):
        return False
    if action.direction not in STEPS:
        return False
    first, second = squares(action)
    if not within(*coordinates(second)):
        return False
    numbers = ground.numbers
    if first in numbers or second in numbers:
        return False
    return not numbers or any(
        one + step in numbers for one in (first, second) for step in STEPS.values()
    )


def squares(action: Domino) -> tuple[int, int]:
    """The two squares, that of the smaller number first; for a double the left or upper one."""
    first = square(action.x, action.y)
    second = first + STEPS[action.direction]
    low, high = NUMBERS[action.domino]
    return (second, first) if low == high and second < first else (first, second)


class _Ways(dict[int, Domino]):
    """One domino, one way round, by the place it is laid on.

    Those near the middle of the table are made once: nearly all that are ever listed.
    """

    def __init__(self, domino: Tile, backwards: bool, draw: bool) -> None:
        super().__init__()
        self._word = (domino, backwards, draw)

    def __missing__(self, place: int) -> Domino:
        domino, backwards, draw = self._word
        one, other = ends(place)
        x, y = coordinates(other if backwards else one)
        direction = (("right", "left"), ("down", "up"))[place & 1][backwards]
        made = Domino(domino, x, y, direction, draw)
        if is_central(one):
            self[place] = made
        return made


_ways = cache(_Ways)


def placements(hand: tuple[Tile, ...], ground: Ground, draw: bool) -> Iterator[Domino]:
    """All ways to lay a domino of the hand; a double has one way round.

    If the table is empty, only those with the first number on (0, 0).
    """
    if not ground.numbers:
        return (Domino(domino, 0, 0, way, draw) for domino in hand for way in STEPS)
    places = ground.places
    found: list[Iterable[Domino]] = []
    for domino in hand:
        found.append(map(_ways(domino, False, draw).__getitem__, places))
        if not _is_double(domino):
            found.append(map(_ways(domino, True, draw).__getitem__, places))
    return chain.from_iterable(found)


def count(hand: tuple[Tile, ...], ground: Ground) -> int:
    """How many ways :func:`placements` lists."""
    if not ground.numbers:
        return len(hand) * len(STEPS)
    return len(ground.places) * sum(1 if _is_double(domino) else 2 for domino in hand)


def _is_double(domino: Tile) -> bool:
    low, high = NUMBERS[domino]
    return low == high
