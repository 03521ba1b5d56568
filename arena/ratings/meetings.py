"""Sums of closed matches by line-up: all data that the fit of strengths requires.

A line-up is the entrants of a match and its number of games. The sums of a line-up are integers:
scores are counted in half points. Therefore the order in which matches are added does not change
any digit. A ladder of a million matches between 200 bots is a table of 19,900 rows, to which a
match is added without reading the others.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations, combinations_with_replacement
from operator import attrgetter
from typing import NamedTuple, Self

from arena.ratings.closed_match import RatedMatch

_Result = tuple[tuple[str, ...], int, tuple[int, ...]]

ALIKE = 200_000
"""Maximum number of different results that are counted before they are summed up.

Counting a repeated result is cheaper than summing it up.
"""


class LineUp(NamedTuple):
    """The entrants of a match, sorted by name, and its number of games."""

    entrants: tuple[str, ...]
    games: int


class Sums(NamedTuple):
    """Sums over the matches of one line-up.

    Attributes:
        matches: number of matches.
        halves: for each pair of the line-up, in the order of `pairs`: half points of its first
            entrant against its second (shared place 1, better place 2), summed over the matches.
        products: for each two of these pairs, in the order of `pairs_of_pairs`: the product of
            their halves in a match, summed over the matches. They determine the variance between
            matches, and the covariance of results within a match. Empty for a single match, where
            they follow from the halves.
    """

    matches: int
    halves: tuple[int, ...]
    products: tuple[int, ...]


@lru_cache
def pairs(entrants: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of a line-up by position: (0, 1), (0, 2), ... (1, 2), ..."""
    return tuple(combinations(range(entrants), 2))


@lru_cache
def pairs_of_pairs(entrants: int) -> tuple[tuple[int, int], ...]:
    """Return the two pairs of each entry of `products`, as positions in `pairs`."""
    return tuple(combinations_with_replacement(range(len(pairs(entrants))), 2))


@dataclass(frozen=True, slots=True)
class Meetings:
    """The table of sums by line-up; an immutable value."""

    sums: Mapping[LineUp, Sums] = field(default_factory=dict)

    @classmethod
    def of(cls, matches: Iterable[RatedMatch]) -> Self:
        """Sum up matches; their order does not matter."""
        summing = MeetingsSum()
        for match in matches:
            summing.add(match)
        return cls(summing.meetings().sums)

    def with_match(self, match: RatedMatch) -> Self:
        """Return the table with one more match."""
        sums = dict(self.sums)
        _fold(sums, *_summed(_result(match), 1))
        return type(self)(sums)

    def __add__(self, other: Self) -> Self:
        """Return the table of the matches of both; they must not have a match in common."""
        sums = dict(self.sums)
        for line_up, added in other.sums.items():
            _fold(sums, line_up, added)
        return type(self)(sums)

    @property
    def entrants(self) -> tuple[str, ...]:
        """All entrants of any match, sorted by name."""
        return tuple(sorted(set(chain.from_iterable(map(attrgetter("entrants"), self.sums)))))

    @property
    def matches(self) -> int:
        """The number of matches."""
        return sum(sums.matches for sums in self.sums.values())


class MeetingsSum:
    """A mutable table that is summed up match by match."""

    def __init__(self) -> None:
        self._alike: Counter[_Result] = Counter()
        self._sums: dict[LineUp, Sums] = {}

    def add(self, match: RatedMatch) -> None:
        """Add one match."""
        self._alike[_result(match)] += 1
        if len(self._alike) >= ALIKE:
            self._settle()

    def count(
        self, entrants: tuple[str, ...], played: int, halves: tuple[int, ...], times: int
    ) -> None:
        """Add `times` matches with the same result; the other arguments are as in `RatedMatch`."""
        _fold(self._sums, *_summed((entrants, played, halves), times))

    def meetings(self) -> Meetings:
        """Return the table of all matches added so far."""
        self._settle()
        return Meetings(dict(self._sums))

    def _settle(self) -> None:
        for result, times in self._alike.items():
            _fold(self._sums, *_summed(result, times))
        self._alike.clear()


def _result(match: RatedMatch) -> _Result:
    """Return the result of a match, with the entrants in its own order."""
    return match.entrants, match.played, match.halves


def _summed(result: _Result, times: int) -> tuple[LineUp, Sums]:
    """Return the line-up and the sums of `times` matches with the same result."""
    entrants, games, got = result
    if len(entrants) == 2:
        return _summed_of_two(entrants, games, got[0], times)
    order = sorted(range(len(entrants)), key=entrants.__getitem__)
    against = dict(zip(pairs(len(entrants)), got, strict=True))
    halves = tuple(
        against[first, second] if first < second else 2 * games - against[second, first]
        for first, second in (
            (order[first], order[second]) for first, second in pairs(len(entrants))
        )
    )
    products = tuple(times * product for product in _products(halves)) if times > 1 else ()
    line_up = LineUp(tuple(entrants[place] for place in order), games)
    return line_up, Sums(times, tuple(times * half for half in halves), products)


def _summed_of_two(
    entrants: tuple[str, ...], games: int, got: int, times: int
) -> tuple[LineUp, Sums]:
    """Do the same for two entrants in a third of the time, as most matches have two."""
    if entrants[0] > entrants[1]:
        entrants, got = entrants[::-1], 2 * games - got
    products = (times * got * got,) if times > 1 else ()
    return LineUp(entrants, games), Sums(times, (times * got,), products)


def _fold(sums: dict[LineUp, Sums], line_up: LineUp, added: Sums) -> None:
    before = sums.get(line_up)
    if before is None:
        sums[line_up] = added
        return
    current, new = (either.products or _products(either.halves) for either in (before, added))
    sums[line_up] = Sums(
        before.matches + added.matches,
        tuple(map(int.__add__, before.halves, added.halves)),
        tuple(map(int.__add__, current, new)),
    )


def _products(halves: tuple[int, ...]) -> tuple[int, ...]:
    """Return the products of one match."""
    return tuple([first * second for first, second in combinations_with_replacement(halves, 2)])
