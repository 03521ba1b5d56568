"""The table of Pokino: its grid, dominoes and tokens, and the index of free places on it."""

from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from referee.games.pokino.actions import PokinoSquare, PokinoTile, PokinoToken
from referee.games.shared.dominoes import NUMBERS, Tile

# Encode squares and borders of Pokino's grid as integers, for speed.
#
# A square is ``(y + 1024) * 2048 + x + 1024``. A pair of neighbours is twice its left or upper
# square, plus one if the other is below. A pair stands for a place for a domino, for a border, or
# for the middle of a domino.

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


@lru_cache(1 << 12)
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


CENTRAL = 6


@lru_cache(1 << 12)
def is_central(number: int) -> bool:
    """Return whether a square is near the middle, where nearly all dominoes are."""
    x, y = coordinates(number)
    return -CENTRAL <= x <= CENTRAL and -CENTRAL <= y <= CENTRAL


SQUARES = _Squares()
"""The square of an action, by its number."""


# Data derived from dominoes and tokens: numbers on squares, open borders, free places.


class Ground:
    """Immutable index of the table; each change derives a new one incrementally.

    Pairs of squares are integers. The two numbers at a border or middle are stored as bits, for a
    quick comparison with a hand's numbers.
    """

    __slots__ = ("borders", "middles", "numbers", "places")

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        """The number on each occupied square."""
        self.borders: dict[int, int] = {}
        """The borders without a token, with the bits of their numbers."""
        self.middles: dict[int, int] = {}
        """The middles of the dominoes, with the bits of their numbers."""
        self.places: list[int] = []
        """The free pairs that touch a domino, row by row."""

    def laid(self, first: int, second: int, low: int, high: int) -> "Ground":
        """Add a domino on two squares.

        1. Remove places that overlap with the new squares.
        2. Add the borders to neighbouring dominoes.
        3. Add the free places that start from a free neighbouring square.
        """
        other = object.__new__(Ground)
        numbers = other.numbers = self.numbers.copy()
        borders = other.borders = self.borders.copy()
        places = other.places = self.places.copy()
        middle = pair(first, second)
        other.middles = {**self.middles, middle: 1 << low | 1 << high}
        numbers[first], numbers[second] = low, high
        safe = _is_far_from_the_edge(first)
        for here, number in ((first, low), (second, high)):
            for beside, two in around(here):
                at = bisect_left(places, two)
                if at < len(places) and places[at] == two:
                    del places[at]
                if beside in numbers:
                    if two != middle:
                        borders[two] = 1 << number | 1 << numbers[beside]
                    continue
                for beyond, place in around(beside):
                    if beyond not in numbers and (safe or is_within(place)):
                        at = bisect_left(places, place)
                        if at == len(places) or places[at] != place:
                            places.insert(at, place)
        return other

    def is_place(self, two: int) -> bool:
        """Return whether a pair is one of :attr:`places`."""
        at = bisect_left(self.places, two)
        return at < len(self.places) and self.places[at] == two

    def without(self, gone: Collection[int]) -> "Ground":
        """Remove the dominoes on these squares with all their borders."""
        other = object.__new__(Ground)
        other.numbers = {at: n for at, n in self.numbers.items() if at not in gone}
        other.borders, other.middles = (
            {two: bits for two, bits in pairs.items() if not gone_from(two, gone)}
            for pairs in (self.borders, self.middles)
        )
        near = {at for number in gone for at in (number, *(n for n, _ in around(number)))}
        changed = {two for number in near for _, two in around(number)}
        kept = (two for two in self.places if two not in changed)
        other.places = sorted((*kept, *filter(other._is_free_place, changed)))
        return other

    def _is_free_place(self, two: int) -> bool:
        """Return whether a pair is free and touches a domino."""
        numbers = self.numbers
        here = ends(two)
        if any(number in numbers for number in here) or not is_within(two):
            return False
        return any(beside in numbers for number in here for beside, _ in around(number))

    def closed(self, borders: Iterable[int]) -> "Ground":
        """Place a token on each of these borders."""
        other = object.__new__(Ground)
        other.numbers, other.middles, other.places = self.numbers, self.middles, self.places
        other.borders = self.borders.copy()
        for border in borders:
            del other.borders[border]
        return other


def gone_from(two: int, gone: Collection[int]) -> bool:
    """Return whether a square of a pair is in a set of removed squares."""
    return any(number in gone for number in ends(two))


def _is_far_from_the_edge(number: int) -> bool:
    x, y = coordinates(number)
    return abs(x) < FARTHEST - 3 and abs(y) < FARTHEST - 3


def is_within(place: int) -> bool:
    """Return whether both squares of a place are within the allowed range."""
    return all(within(*coordinates(number)) for number in ends(place))


@dataclass(frozen=True, init=False)
class PokinoLayout:
    """The face-up dominoes and the tokens, each in the order of their placement.

    Derived data is computed once and cached; it is not part of the value.
    """

    __slots__ = ("_ground", "tiles", "tokens")

    tiles: tuple[PokinoTile, ...]
    tokens: tuple[PokinoToken, ...]

    def __init__(
        self,
        tiles: tuple[PokinoTile, ...] = (),
        tokens: tuple[PokinoToken, ...] = (),
        ground: Ground | None = None,
    ) -> None:
        fix = object.__setattr__
        fix(self, "tiles", tiles)
        fix(self, "tokens", tokens)
        fix(self, "_ground", ground)

    def __reduce__(self) -> Any:
        return PokinoLayout, (self.tiles, self.tokens)

    @property
    def ground(self) -> Ground:
        """Return the derived numbers, borders and places."""
        ground: Ground | None = self._ground  # type: ignore[attr-defined]
        if ground is None:
            ground = Ground()
            for tile in self.tiles:
                ground = ground.laid(*_squares(tile), *NUMBERS[tile.domino])
            ground = ground.closed(map(_border, self.tokens))
            object.__setattr__(self, "_ground", ground)
        return ground

    def laid(self, domino: Tile, first: int, second: int) -> "PokinoLayout":
        """Add a domino with its smaller number on the first square."""
        tile = PokinoTile(domino, *coordinates(first), *coordinates(second))
        ground = self.ground.laid(first, second, *NUMBERS[domino])
        return PokinoLayout((*self.tiles, tile), self.tokens, ground)

    def closed(self, borders: Iterable[int], owner: int) -> "PokinoLayout":
        """Place a token on each of these borders."""
        fresh = list(borders)
        tokens = [
            PokinoToken(*coordinates(first), *coordinates(second), owner)
            for first, second in map(ends, fresh)
        ]
        return PokinoLayout(self.tiles, (*self.tokens, *tokens), self.ground.closed(fresh))

    def without(self, middles: Iterable[int]) -> "PokinoLayout":
        """Remove the dominoes with these middles, and all tokens at their borders."""
        gone = {number for middle in middles for number in ends(middle)}
        return PokinoLayout(
            tuple(tile for tile in self.tiles if _squares(tile)[0] not in gone),
            tuple(t for t in self.tokens if not gone.intersection(ends(_border(t)))),
            self.ground.without(gone),
        )

    def domino_at(self, middle: int) -> Tile:
        """Return the domino with this middle."""
        return next(tile.domino for tile in self.tiles if pair(*_squares(tile)) == middle)

    def owners(self) -> dict[Tile, list[int]]:
        """Return the owners of the tokens at the borders of each domino, one entry per token."""
        owners: dict[Tile, list[int]] = {tile.domino: [] for tile in self.tiles}
        lying = {number: tile.domino for tile in self.tiles for number in _squares(tile)}
        for token in self.tokens:
            for number in ends(_border(token)):
                owners[lying[number]].append(token.owner)
        return owners


def _squares(tile: PokinoTile) -> tuple[int, int]:
    """Return the squares of a domino, that of its smaller number first."""
    return square(tile.x, tile.y), square(tile.second_x, tile.second_y)


def _border(token: PokinoToken) -> int:
    return pair(square(token.x, token.y), square(token.second_x, token.second_y))
