"""Encode squares and borders of Pokino's grid as integers, for speed.

A square is ``(y + 1024) * 2048 + x + 1024``. A pair of neighbours is twice its left or upper
square, plus one if the other is below. A pair stands for a place for a domino, for a border, or for
the middle of a domino.
"""

from referee.games.pokino.actions import PokinoSquare

FARTHEST = 1000
DOWN = 2048
ZERO = 1024

STEPS = {"right": 1, "down": DOWN, "left": -1, "up": -DOWN}
"""Difference between a square and its neighbour, by direction."""


def square(x: int, y: int) -> int:
    """Encode the square at these coordinates."""
    return (y + ZERO) * DOWN + x + ZERO


def coordinates(number: int) -> tuple[int, int]:
    """Decode a square to its coordinates."""
    return (number & DOWN - 1) - ZERO, (number >> 11) - ZERO


def within(x: int, y: int) -> bool:
    """Return whether the coordinates are within the allowed range."""
    return -FARTHEST <= x <= FARTHEST and -FARTHEST <= y <= FARTHEST


def pair(first: int, second: int) -> int:
    """Encode the pair of two neighbours, in any order."""
    if first > second:
        first, second = second, first
    return 2 * first + (second - first == DOWN)


def ends(two: int) -> tuple[int, int]:
    """Return the two squares of a pair, the left or upper one first."""
    first = two >> 1
    return first, first + (DOWN if two & 1 else 1)


def around(number: int) -> tuple[tuple[int, int], ...]:
    """Return the four neighbours of a square, each with their pair."""
    left, up = number - 1, number - DOWN
    return (
        (up, 2 * up + 1),
        (left, 2 * left),
        (number + 1, 2 * number),
        (number + DOWN, 2 * number + 1),
    )


class _Squares(dict[int, PokinoSquare]):
    """Squares by number; those near the middle are cached."""

    def __missing__(self, number: int) -> PokinoSquare:
        x, y = coordinates(number)
        made = PokinoSquare(x, y)
        if is_central(number):
            self[number] = made
        return made


CENTRAL = 12


def is_central(number: int) -> bool:
    """Return whether a square is near the middle, where nearly all dominoes are."""
    x, y = coordinates(number)
    return -CENTRAL <= x <= CENTRAL and -CENTRAL <= y <= CENTRAL


SQUARES = _Squares()
"""The square of an action, by its number."""
