"""All that strength needs to know of the closed matches, summed up by who met whom.

A line-up is the entrants of a match and its number of games. For each line-up the sums are whole
numbers: scores are counted in halves of a game won. So it makes no difference, in no digit, in
which order matches are added, and a ladder of a million matches between 200 bots is a table of
19,900 lines to which one match is added without looking at the others.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations, combinations_with_replacement
from operator import attrgetter
from typing import NamedTuple, Self

from arena.ratings.closed_match import Scored

_Result = tuple[tuple[str, ...], int, tuple[int, ...]]

ALIKE = 200_000
"""So many different results are held before they are summed up: the same one again is cheap."""


class LineUp(NamedTuple):
    """Who sat in a match, sorted by name, and how many games it had."""

    entrants: tuple[str, ...]
    games: int


class Sums(NamedTuple):
    """What the matches of one line-up add up to.

    matches: how many there were.
    halves: for each pair of the line-up in the order of `pairs`: half games won by its first from
        its second (a shared place is one, a better place two), summed over the matches.
    products: for each two of these pairs, in the order of `pairs_of_pairs`: the halves of one in
        a match times those of the other, summed over the matches. With them the scatter between
        matches is known, and how far results of one match hang together. Empty if there was one
        match only: they follow from the halves.
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
    """Return which two pairs each of `products` is of, as positions in `pairs`."""
    return tuple(combinations_with_replacement(range(len(pairs(entrants))), 2))


@dataclass(frozen=True, slots=True)
class Meetings:
    """The table of sums; an immutable value."""

    sums: Mapping[LineUp, Sums] = field(default_factory=dict)

    @classmethod
    def of(cls, matches: Iterable[Scored]) -> Self:
        """Sum up matches; their order does not matter."""
        summing = Summing()
        for match in matches:
            summing.add(match)
        return cls(summing.meetings().sums)

    def with_match(self, match: Scored) -> Self:
        """Return the table with one more match."""
        sums = dict(self.sums)
        _fold(sums, *_summed(_result(match), 1))
        return type(self)(sums)

    def __add__(self, other: Self) -> Self:
        """Return the table of the matches of both; no match may be in both."""
        sums = dict(self.sums)
        for line_up, added in other.sums.items():
            _fold(sums, line_up, added)
        return type(self)(sums)

    @property
    def entrants(self) -> tuple[str, ...]:
        """Everyone who was in a match, sorted by name."""
        return tuple(sorted(set(chain.from_iterable(map(attrgetter("entrants"), self.sums)))))

    @property
    def matches(self) -> int:
        """How many matches are summed up."""
        return sum(sums.matches for sums in self.sums.values())


class Summing:
    """A table that is being summed up, match by match."""

    def __init__(self) -> None:
        self._alike: Counter[_Result] = Counter()
        self._sums: dict[LineUp, Sums] = {}

    def add(self, match: Scored) -> None:
        """Count one more match."""
        self._alike[_result(match)] += 1
        if len(self._alike) >= ALIKE:
            self._settle()

    def count(
        self, entrants: tuple[str, ...], played: int, halves: tuple[int, ...], times: int
    ) -> None:
        """Count so many matches that are alike; as `Scored` has them."""
        _fold(self._sums, *_summed((entrants, played, halves), times))

    def meetings(self) -> Meetings:
        """Return the table so far."""
        self._settle()
        return Meetings(dict(self._sums))

    def _settle(self) -> None:
        for result, times in self._alike.items():
            _fold(self._sums, *_summed(result, times))
        self._alike.clear()


def _result(match: Scored) -> _Result:
    """What counts of a match, with the entrants in the order in which it names them."""
    return match.entrants, match.played, match.halves


def _summed(result: _Result, times: int) -> tuple[LineUp, Sums]:
    """So many matches with one and the same result."""
    entrants, games, got = result
    if len(entrants) == 2:
        return _summed_of_two(entrants, games, got[0], times)
    order = sorted(range(len(entrants)), key=entrants.__getitem__)
    against = dict(zip(pairs(len(entrants)), got, strict=True))
    halves = tuple(
        against[one, other] if one < other else 2 * games - against[other, one]
        for one, other in ((order[one], order[other]) for one, other in pairs(len(entrants)))
    )
    products = tuple(times * product for product in _products(halves)) if times > 1 else ()
    line_up = LineUp(tuple(entrants[place] for place in order), games)
    return line_up, Sums(times, tuple(times * half for half in halves), products)


def _summed_of_two(
    entrants: tuple[str, ...], games: int, got: int, times: int
) -> tuple[LineUp, Sums]:
    """The same in a third of the time: most matches are of two."""
    if entrants[0] > entrants[1]:
        entrants, got = entrants[::-1], 2 * games - got
    products = (times * got * got,) if times > 1 else ()
    return LineUp(entrants, games), Sums(times, (times * got,), products)


def _fold(sums: dict[LineUp, Sums], line_up: LineUp, added: Sums) -> None:
    before = sums.get(line_up)
    if before is None:
        sums[line_up] = added
        return
    own, new = (one.products or _products(one.halves) for one in (before, added))
    sums[line_up] = Sums(
        before.matches + added.matches,
        tuple(map(int.__add__, before.halves, added.halves)),
        tuple(map(int.__add__, own, new)),
    )


def _products(halves: tuple[int, ...]) -> tuple[int, ...]:
    """Of one match."""
    return tuple([one * other for one, other in combinations_with_replacement(halves, 2)])
