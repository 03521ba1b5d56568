"""Data derived from dominoes and tokens: numbers on squares, open borders, free places."""

from bisect import bisect_left
from collections.abc import Collection, Iterable

from referee.games.pokino.grid import FARTHEST, around, coordinates, ends, pair, within


class Ground:
    """Immutable index of the table; each change derives a new one incrementally.

    Pairs of squares are integers (:mod:`referee.games.pokino.grid`). The two numbers at a border or
    middle are stored as bits, for a quick comparison with a hand's numbers.
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
                    if beyond not in numbers and (safe or _is_within(place)):
                        at = bisect_left(places, place)
                        if at == len(places) or places[at] != place:
                            places.insert(at, place)
        return other

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
        other.places = sorted((*kept, *filter(other._is_place, changed)))
        return other

    def _is_place(self, two: int) -> bool:
        """Return whether a pair is free and touches a domino."""
        numbers = self.numbers
        here = ends(two)
        if any(number in numbers for number in here) or not _is_within(two):
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


def _is_within(place: int) -> bool:
    return all(within(*coordinates(number)) for number in ends(place))
