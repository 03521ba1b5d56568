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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.ratings.line_ups import LineUp, Sums, pairs, pairs_of_pairs
from arena.ratings.meetings import Meetings
from arena.ratings.scale import DECIMALS, Z95

USUAL_VARIANCE_WEIGHT = 5.0
"""Weight, in matches, of the variance of all pairs in the estimate for one pair."""
BELIEF = 2.0
"""Weight, in matches between equals, of the prior that matches vary like single games."""
TINY = 1e-9
"""Lower bound of the variance of matches relative to single games, where all ended alike."""


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
    import numpy as np

    from arena.ratings.strength.meeting_arrays import columns
    from arena.ratings.strength.pair_graph import pair_graph, pair_squares

    table = columns(meetings, meetings.entrants)
    graph = pair_graph(table)
    several = graph.count > 1
    count, score = graph.count[several], graph.score[several]
    mean = score / count
    within = np.maximum(pair_squares(table, graph)[several] - score * mean, 0.0)
    seen = float(np.sum(within)) + BELIEF / 4
    single = float(np.sum((count - 1) * mean * (1 - mean))) + BELIEF / 4
    return min(seen / single, 1.0)


def cells(meetings: Meetings, variance: float | None = None) -> Cells:
    """Return the cells of all pairs that have met, in both directions.

    Args:
        variance: the `match_variance` of the ladder; None: of these matches.
    """
    usual = match_variance(meetings) if variance is None else variance
    table: dict[tuple[str, str], CrosstableCell] = {}
    for (first, second), sums in _pairs(meetings.sums).items():
        cell = table[first, second] = _cell(sums, usual)
        table[second, first] = _turned(cell)
    return table


def _turned(cell: CrosstableCell) -> CrosstableCell:
    """Return the cell from the perspective of the other entrant."""
    turned = (1 - cell.score, 1 - cell.high, 1 - cell.low)
    return CrosstableCell(cell.matches, *(round(value, DECIMALS) for value in turned))


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
