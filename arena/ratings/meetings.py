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
from itertools import chain, combinations, combinations_with_replacement
from operator import attrgetter
from typing import TYPE_CHECKING, Self

from arena.ratings.closed_match import ClosedMatch
from arena.ratings.line_ups import LineUp, Sums, pairs

if TYPE_CHECKING:
    from arena.ratings.packed_sums import PackedSums

LINE_UPS = 250_000
"""Number of line-ups from which they are stored as arrays. As objects, millions of them would need
gigabytes."""


@dataclass(frozen=True, slots=True)
class Meetings:
    """The table of sums by line-up; an immutable value."""

    sums: Mapping[LineUp, Sums] = field(default_factory=dict)

    @classmethod
    def of(cls, matches: Iterable[ClosedMatch]) -> Self:
        """Sum up matches; their order does not matter."""
        # Counting a repeated result is cheaper than summing it up.
        results = Counter((match.entrants, match.played, match.halves) for match in matches)
        return cls.of_line_ups(_line_up_of(*result, times) for result, times in results.items())

    @classmethod
    def of_line_ups(cls, line_ups: Iterable[tuple[LineUp, Sums]]) -> Self:
        """Sum up the sums of line-ups; a single match has no products."""
        sums: dict[LineUp, Sums] = {}
        parts: list[PackedSums] = []
        for line_up, added in line_ups:
            _fold(sums, line_up, added)
            if len(sums) >= LINE_UPS:
                parts.append(_packed(sums))
                sums = {}
        return cls(_merged([*parts, _packed(sums)]) if parts else sums)

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
        if not isinstance(self.sums, dict):
            return _packed(self.sums).matches
        return sum(sums.matches for sums in self.sums.values())


def _packed(sums: Mapping[LineUp, Sums]) -> PackedSums:
    """Return a table as arrays; this loads numpy."""
    from arena.ratings.packed_sums import pack

    return pack(sums)


def _merged(parts: list[PackedSums]) -> PackedSums:
    from arena.ratings.packed_sums import merge

    return merge(parts)


def sums_of(match: ClosedMatch) -> tuple[LineUp, Sums]:
    """Return the line-up of a match and its sums, with products."""
    line_up, sums = _line_up_of(match.entrants, match.played, match.halves)
    return line_up, sums._replace(products=_products(sums.halves))


def _line_up_of(
    entrants: tuple[str, ...], games: int, got: tuple[int, ...], times: int = 1
) -> tuple[LineUp, Sums]:
    """Return the line-up and the sums of `times` matches with the same result."""
    order = sorted(range(len(entrants)), key=entrants.__getitem__)
    against = dict(zip(pairs(len(entrants)), got, strict=True))
    halves = tuple(
        against[first, second] if first < second else 2 * games - against[second, first]
        for first, second in combinations(order, 2)
    )
    products = tuple(times * product for product in _products(halves)) if times > 1 else ()
    sums = Sums(times, tuple(times * half for half in halves), products)
    return LineUp(tuple(entrants[place] for place in order), games), sums


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
