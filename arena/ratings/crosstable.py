"""The crosstable: mean scores between each two entrants, each with a 95 % interval.

A cell depends only on the matches of its two entrants, apart from the variance described below. Its
interval is E. B. Wilson's (1927). It stays within 0 and 1, and has a positive width even if one
side won everything.

Wilson's interval applies to independent single games. The mean scores of matches vary less, so a
match counts as several games. This number is estimated within each pair. Because most pairs have
few matches, the estimate is shrunk towards the one of all pairs of the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from arena.ratings.line_ups import LineUp, Sums, pairs, pairs_of_pairs
from arena.ratings.meetings import Meetings
from arena.ratings.scale import DECIMALS, Z95

if TYPE_CHECKING:
    from arena.ratings.packed_sums import PackedSums
    from arena.ratings.strength.meeting_arrays import Floats

USUAL_VARIANCE_WEIGHT = 5.0
"""Weight, in matches, of the variance of all pairs in the estimate for one pair."""
BELIEF = 2.0
"""Weight, in matches between equals, of the prior that matches vary like single games."""
TINY = 1e-9
"""Lower bound of the variance of matches relative to single games, where all ended alike."""
ROWS_KEPT = 64
"""Maximum number of entrants of a large ladder whose pairs stay in memory."""


@dataclass(frozen=True, slots=True)
class CrosstableCell:
    """The results between two entrants, from the perspective of the first.

    Attributes:
        matches: number of matches.
        score: mean score over the matches, from 0 to 1.
        low: the lower end of the 95 % interval.
        high: the upper end of the 95 % interval.
    """

    matches: int
    score: float
    low: float
    high: float

    @property
    def lead(self) -> float:
        """Distance from one half to the nearer end of the interval.

        It is negative if the first entrant is behind, and 0 if the interval contains one half.
        """
        return max(self.low - 0.5, 0.0) - max(0.5 - self.high, 0.0)


@dataclass(frozen=True, slots=True)
class Crosstable:
    """A square table of cells.

    Attributes:
        entrants: the entrants.
        cells: `cells[i][j]` is the result of entrant i against entrant j; None if they have not
            met.
    """

    entrants: tuple[str, ...]
    cells: tuple[tuple[CrosstableCell | None, ...], ...]


@dataclass(slots=True)
class _PairSums:
    """Sums over the matches of one pair: their number, mean scores, and squared mean scores."""

    matches: int = 0
    score: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float:
        return self.score / self.matches

    @property
    def spread(self) -> float:
        """The variance of single games without draws with this mean."""
        return self.mean * (1 - self.mean)

    @property
    def within(self) -> float:
        """Sum of squared deviations from the mean; negative values are rounding errors."""
        return max(self.squares - self.score * self.mean, 0.0)


Cells = Mapping[tuple[str, str], CrosstableCell]
"""Cells by names of the first and second entrant; only pairs that have met."""


def crosstable(meetings: Meetings, entrants: Sequence[str]) -> Crosstable:
    """Return the crosstable of some entrants, in their order."""
    by_pair, named = cells(meetings), tuple(entrants)
    return Crosstable(
        named, tuple(tuple(by_pair.get((row, column)) for column in named) for row in named)
    )


def match_variance(meetings: Meetings) -> float:
    """Return the variance of matches within all pairs, relative to that of single games."""
    if not isinstance(meetings.sums, dict):
        from arena.ratings.packed_sums import pack

        return _usual_of(pack(meetings.sums))
    return _usual(_pairs(meetings.sums).values())


def cells(meetings: Meetings, variance: float | None = None) -> Cells:
    """Return the cells of all pairs that have met, in both directions.

    The cells of a large ladder are computed when they are looked up.

    Args:
        meetings: the sums of the matches.
        variance: the `match_variance` of the ladder; None: of these matches.
    """
    if not isinstance(meetings.sums, dict):
        from arena.ratings.packed_sums import pack

        return _PackedCells(pack(meetings.sums))
    by_pair = _pairs(meetings.sums)
    usual = _usual(by_pair.values()) if variance is None else variance
    table: dict[tuple[str, str], CrosstableCell] = {}
    for (first, second), sums in by_pair.items():
        cell = table[first, second] = _cell(sums, usual)
        table[second, first] = _turned(cell)
    return table


def _turned(cell: CrosstableCell) -> CrosstableCell:
    """Return the cell from the perspective of the other entrant."""
    turned = (1 - cell.score, 1 - cell.high, 1 - cell.low)
    return CrosstableCell(cell.matches, *(round(value, DECIMALS) for value in turned))


class _PackedCells(Mapping[tuple[str, str], CrosstableCell]):
    """The cells of a ladder with millions of pairs.

    With two seats, each pair is looked up by itself. Otherwise the pairs of an entrant are read at
    once, because its line-ups are scattered over the table.
    """

    def __init__(self, sums: PackedSums) -> None:
        self._sums = sums
        self._usual = _usual_of(sums)
        self._pairs_of = lru_cache(ROWS_KEPT)(self._read)
        self._of_two = all(block.seats == 2 for block in sums.blocks)

    def __getitem__(self, names: tuple[str, str]) -> CrosstableCell:
        """Return the cell of a pair."""
        first, second = names
        by_pair = _pairs(self._sums.of_two(*names)) if self._of_two else self._pairs_of(first)
        sums = by_pair[min(names), max(names)]
        cell = _cell(sums, self._usual)
        return cell if first < second else _turned(cell)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield all pairs that have met, in both directions."""
        for name in self._sums.names:
            for first, second in self._pairs_of(name):
                yield (name, second if first == name else first)

    def __len__(self) -> int:
        """Return the number of these pairs."""
        return sum(1 for _ in self)

    def _read(self, name: str) -> dict[tuple[str, str], _PairSums]:
        by_pair = _pairs(self._sums.of_entrant(name))
        return {names: sums for names, sums in by_pair.items() if name in names}


def _usual_of(sums: PackedSums) -> float:
    """Return the same as `_usual`, without objects."""
    import numpy as np

    count, score, squares = _repeated(sums)
    mean = score / count
    seen = float(np.sum(np.maximum(squares - score * mean, 0.0))) + BELIEF / 4
    single = float(np.sum((count - 1) * mean * (1 - mean))) + BELIEF / 4
    return min(seen / single, 1.0)


def _repeated(sums: PackedSums) -> tuple[Floats, Floats, Floats]:
    """Return matches, sums of scores and sums of their squares of pairs that met several times."""
    import numpy as np

    from arena.ratings.strength.meeting_arrays import MeetingArrays
    from arena.ratings.strength.pair_graph import pair_graph, pair_squares

    if len({block.games for block in sums.blocks}) == 1 and sums.blocks[-1].seats == 2:
        # Each line-up is a pair.
        for block in sums.blocks:
            if not block.once:
                games = 2 * block.games
                return (
                    np.asarray(block.matches, np.float64),
                    block.halves[:, 0] / games,
                    block.products[:, 0] / games**2,
                )
    table = MeetingArrays(len(sums.names), sums.blocks)
    graph = pair_graph(table)
    several = graph.count > 1
    return graph.count[several], graph.score[several], pair_squares(table, graph)[several]


def _pairs(sums_of: Mapping[LineUp, Sums]) -> dict[tuple[str, str], _PairSums]:
    """Return the sums by pair; the names of a pair are in alphabetical order.

    Line-ups are processed in sorted order, so that the result does not depend on the order of the
    matches in any digit.
    """
    by_pair: dict[tuple[str, str], _PairSums] = {}
    for (names, games), sums in sorted(sums_of.items()):
        most = 2 * games
        for at, (first, second) in enumerate(pairs(len(names))):
            pair_sums = by_pair.setdefault((names[first], names[second]), _PairSums())
            pair_sums.matches += sums.matches
            pair_sums.score += sums.halves[at] / most
            pair_sums.squares += _square(sums.halves, sums.products, len(names), at) / most**2
    return by_pair


def _square(halves: Sequence[int], products: Sequence[int], seats: int, at: int) -> int:
    if not products:
        return halves[at] ** 2
    return products[pairs_of_pairs(seats).index((at, at))]


def _usual(by_pair: Iterable[_PairSums]) -> float:
    """Return the variance of matches within all pairs, relative to that of single games."""
    sums = [pair for pair in by_pair if pair.matches > 1]
    seen = math.fsum(pair.within for pair in sums) + BELIEF / 4
    single = math.fsum((pair.matches - 1) * pair.spread for pair in sums) + BELIEF / 4
    return min(seen / single, 1.0)


def _cell(sums: _PairSums, usual: float) -> CrosstableCell:
    share = usual
    if sums.spread > 0:
        seen = sums.within + USUAL_VARIANCE_WEIGHT * usual * sums.spread
        share = seen / ((sums.matches - 1 + USUAL_VARIANCE_WEIGHT) * sums.spread)
    # The equivalent number of single games without draws (Wilson's n).
    worth = sums.matches / max(share, TINY)
    middle = sums.mean + Z95**2 / (2 * worth)
    reach = Z95 * math.sqrt(sums.spread / worth + (Z95 / (2 * worth)) ** 2)
    scale = 1 + Z95**2 / worth
    values = (sums.mean, (middle - reach) / scale, (middle + reach) / scale)
    score, low, high = (round(min(max(value, 0.0), 1.0), DECIMALS) for value in values)
    return CrosstableCell(sums.matches, score, low, high)
