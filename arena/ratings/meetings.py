"""Sums of closed matches by line-up: all data that the fit of strengths requires.

A line-up is the entrants of a match and its number of games. The sums of a line-up are integers:
scores are counted in half points. Therefore the order in which matches are added does not change
any digit. A ladder of a million matches between 200 bots is a table of 19,900 rows, to which a
match is added without reading the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations_with_replacement
from operator import attrgetter
from typing import TYPE_CHECKING, Self

from arena.ratings.closed_match import RatedMatch
from arena.ratings.line_ups import LineUp, Sums, pairs

if TYPE_CHECKING:
    from arena.ratings.packed_sums import PackedSums

_Result = tuple[tuple[str, ...], int, tuple[int, ...]]

ALIKE = 200_000
"""Maximum number of different results that are counted before they are summed up.

Counting a repeated result is cheaper than summing it up.
"""
LINE_UPS = 250_000
"""Number of line-ups from which they are stored as arrays. As objects, millions of them would need
gigabytes."""


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

    def __add__(self, other: Self) -> Self:
        """Return the table of the matches of both; they must not have a match in common."""
        if not (isinstance(self.sums, dict) and isinstance(other.sums, dict)):
            return type(self)(_merged(self.sums, other.sums))
        sums = dict(self.sums)
        for line_up, added in other.sums.items():
            _fold(sums, line_up, added)
        return type(self)(sums)

    def among(self, names: Collection[str]) -> Self:
        """Return the matches all of whose entrants are among these."""
        if not isinstance(self.sums, dict):
            return type(self)(_packed(self.sums).among(names))
        kept = frozenset(names)
        return type(self)(
            {
                line_up: sums
                for line_up, sums in self.sums.items()
                if kept.issuperset(line_up.entrants)
            }
        )

    @property
    def entrants(self) -> tuple[str, ...]:
        """All entrants of any match, sorted by name."""
        if not isinstance(self.sums, dict):
            return _packed(self.sums).names
        return tuple(sorted(set(chain.from_iterable(map(attrgetter("entrants"), self.sums)))))

    @property
    def matches(self) -> int:
        """The number of matches."""
        if not isinstance(self.sums, dict):
            return _packed(self.sums).matches
        return sum(sums.matches for sums in self.sums.values())


def _packed(sums: Mapping[LineUp, Sums]) -> PackedSums:
    """Return a table as arrays; this loads numpy."""
    from arena.ratings.packed_sums import pack

    return pack(sums)


def _merged(first: Mapping[LineUp, Sums], second: Mapping[LineUp, Sums]) -> PackedSums:
    from arena.ratings.packed_sums import merge

    return merge(_packed(first), _packed(second))


def sums_of(match: RatedMatch) -> tuple[LineUp, Sums]:
    """Return the line-up of a match and its sums, with products."""
    line_up, sums = _summed(_result(match), 1)
    return line_up, sums._replace(products=_products(sums.halves))


class MeetingsSum:
    """A mutable table that is summed up match by match."""

    def __init__(self) -> None:
        self._alike: Counter[_Result] = Counter()
        self._sums: dict[LineUp, Sums] = {}
        self._old: PackedSums | None = None

    @classmethod
    def of(cls, meetings: Meetings) -> Self:
        """Return the sum of the matches of a table, to which others can be added."""
        summing = cls()
        if isinstance(meetings.sums, dict):
            summing._sums = dict(meetings.sums)
        else:
            summing._old = _packed(meetings.sums)
        return summing

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
        if len(self._sums) >= LINE_UPS:
            self._pack()

    def fold(self, line_up: LineUp, sums: Sums) -> None:
        """Add the sums of a line-up."""
        _fold(self._sums, line_up, sums)
        if len(self._sums) >= LINE_UPS:
            self._pack()

    def meetings(self) -> Meetings:
        """Return the table of all matches added so far."""
        self._settle()
        if self._old is None:
            return Meetings(dict(self._sums))
        if self._sums:
            self._pack()
        return Meetings(self._old)

    def _settle(self) -> None:
        for result, times in self._alike.items():
            _fold(self._sums, *_summed(result, times))
        self._alike.clear()
        if len(self._sums) >= LINE_UPS:
            self._pack()

    def _pack(self) -> None:
        self._old = _packed(self._sums) if self._old is None else _merged(self._old, self._sums)
        self._sums = {}


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
