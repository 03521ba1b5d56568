"""Squares and borders of Pokino's grid as whole numbers, which are quick to reckon with.

A square is ``(y + 1024) * 2048 + x + 1024``. A pair of neighbours is twice its left or upper
square, plus one if the other lies below: a place for a domino, a border, or a domino's middle.
"""

from referee.games.pokino.actions import PokinoSquare

FARTHEST = 1000
DOWN = 2048
ZERO = 1024

STEPS = {"right": 1, "down": DOWN, "left": -1, "up": -DOWN}
"""From a square to its neighbour, by direction."""


def square(x: int, y: int) -> int:
    """The number of a square that lies within the coordinates."""
    return (y + ZERO) * DOWN + x + ZERO


def coordinates(number: int) -> tuple[int, int]:
    """Where a square lies."""
    return (number & DOWN - 1) - ZERO, (number >> 11) - ZERO


def within(x: int, y: int) -> bool:
    """Whether a square may be used at all."""
    return -FARTHEST <= x <= FARTHEST and -FARTHEST <= y <= FARTHEST


def pair(one: int, other: int) -> int:
    """The pair of two neighbours."""
    if one > other:
        one, other = other, one
    return 2 * one + (other - one == DOWN)


def ends(two: int) -> tuple[int, int]:
    """The two squares of a pair."""
    first = two >> 1
    return first, first + (DOWN if two & 1 else 1)


def around(number: int) -> tuple[tuple[int, int], ...]:
    """The four neighbours of a square, each with the pair they make."""
    left, up = number - 1, number - DOWN
    return (
        (up, 2 * up + 1),
        (left, 2 * left),
        (number + 1, 2 * number),
        (number + DOWN, 2 * number + 1),
    )


class _Squares(dict[int, PokinoSquare]):
    """The squares by number; those near the middle are made once."""

    def __missing__(self, number: int) -> PokinoSquare:
        x, y = coordinates(number)
        made = PokinoSquare(x, y)
        if is_central(number):
            self[number] = made
        return made


CENTRAL = 12


def is_central(number: int) -> bool:
    """Whether a square is near the middle, where nearly all dominoes lie: worth remembering."""
    x, y = coordinates(number)
    return -CENTRAL <= x <= CENTRAL and -CENTRAL <= y <= CENTRAL


SQUARES = _Squares()
"""What a square is called in an action, by its number."""
