"""Who scored how much against whom: the crosstable, each mean score with its 95 % interval.

Nothing is fitted here; a cell speaks of the matches of these two alone. Its interval is E. B.
Wilson's (1927), which stays within 0 and 1 and has a width even where everything was won. It is
made for single games between strangers; matches are worth more than that, as their mean scores
scatter less. How much less is counted within each pair and, because most pairs have few matches,
drawn towards what all pairs of the table show together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.ratings.meetings import Meetings, pairs, pairs_of_pairs
from arena.ratings.scale import Z95

FAMILIAR = 5.0
"""After so many matches more a pair's own scatter counts as much as that of all."""
BELIEF = 2.0
"""To begin with, so many matches between equals are taken to have scattered as single games."""
TINY = 1e-9
"""The least such share: matches that all ended alike leave hardly a doubt."""
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """The meetings of two, seen by the first.

    score: its mean score over the matches, from 0 to 1. low, high: the 95 % interval.
    """

    matches: int
    score: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """What stands after the +-: the farther end, as the interval leans to the middle."""
        return max(self.score - self.low, self.high - self.score)

    def to_json(self) -> dict[str, object]:
        """Return it as plain values."""
        return {"matches": self.matches, "score": self.score, "interval": [self.low, self.high]}


@dataclass(frozen=True, slots=True)
class Crosstable:
    """cells[i][j]: how entrant i did against entrant j; None if they have not met."""

    entrants: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]

    def to_json(self) -> dict[str, object]:
        """Return it as plain values."""
        return {
            "entrants": list(self.entrants),
            "cells": [[cell.to_json() if cell else None for cell in row] for row in self.cells],
        }


@dataclass(slots=True)
class _Sums:
    """Of the mean scores of one pair's matches: how many, their sum, and that of their squares."""

    matches: int = 0
    score: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float:
        return self.score / self.matches

    @property
    def spread(self) -> float:
        """The variance of a single game without draws that has this mean."""
        return self.mean * (1 - self.mean)

    @property
    def within(self) -> float:
        """The squares about the mean; what is below 0 is rounding."""
        return max(self.squares - self.score * self.mean, 0.0)


Cells = Mapping[tuple[str, str], Cell]
"""How the first of two did against the second, by their names; those who have met."""


def crosstable(meetings: Meetings, entrants: Sequence[str]) -> Crosstable:
    """Return the crosstable of some entrants, in their order."""
    met, named = cells(meetings), tuple(entrants)
    return Crosstable(
        named, tuple(tuple(met.get((one, other)) for other in named) for one in named)
    )


def cells(meetings: Meetings) -> Cells:
    """Return the cells of everyone who has met somebody."""
    met = _pairs(meetings)
    usual = _usual(met.values())
    found: dict[tuple[str, str], Cell] = {}
    for (one, other), sums in met.items():
        cell = found[one, other] = _cell(sums, usual)
        turned = (1 - cell.score, 1 - cell.high, 1 - cell.low)
        found[other, one] = Cell(cell.matches, *(round(value, DECIMALS) for value in turned))
    return found


def _pairs(meetings: Meetings) -> dict[tuple[str, str], _Sums]:
    """The sums by pair, its names in their order.

    Line-ups are gone through in order, so that no digit depends on that of the matches.
    """
    found: dict[tuple[str, str], _Sums] = {}
    for (names, games), sums in sorted(meetings.sums.items()):
        most = 2 * games
        for at, (one, other) in enumerate(pairs(len(names))):
            own = found.setdefault((names[one], names[other]), _Sums())
            own.matches += sums.matches
            own.score += sums.halves[at] / most
            own.squares += _square(sums.halves, sums.products, len(names), at) / most**2
    return found


def _square(halves: Sequence[int], products: Sequence[int], seats: int, at: int) -> int:
    if not products:
        return halves[at] ** 2
    return products[pairs_of_pairs(seats).index((at, at))]


def _usual(met: Iterable[_Sums]) -> float:
    """The scatter of matches within all pairs, as a share of that of single games."""
    sums = [pair for pair in met if pair.matches > 1]
    seen = math.fsum(pair.within for pair in sums) + BELIEF / 4
    single = math.fsum((pair.matches - 1) * pair.spread for pair in sums) + BELIEF / 4
    return min(seen / single, 1.0)


def _cell(sums: _Sums, usual: float) -> Cell:
    share = usual
    if sums.spread > 0:
        seen = sums.within + FAMILIAR * usual * sums.spread
        share = seen / ((sums.matches - 1 + FAMILIAR) * sums.spread)
    # A match is worth so many single games that nobody drew.
    worth = sums.matches / max(share, TINY)
    middle = sums.mean + Z95**2 / (2 * worth)
    reach = Z95 * math.sqrt(sums.spread / worth + (Z95 / (2 * worth)) ** 2)
    scale = 1 + Z95**2 / worth
    told = (sums.mean, (middle - reach) / scale, (middle + reach) / scale)
    score, low, high = (round(min(max(value, 0.0), 1.0), DECIMALS) for value in told)
    return Cell(sums.matches, score, low, high)
