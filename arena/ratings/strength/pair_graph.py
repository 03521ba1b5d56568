"""The pairs that have met, as arrays; entrants are numbers from 0.

A ladder of 10,000 entrants has 50 million pairs, but only a few million of them have met. The fit
of large ladders (`arena.ratings.strength.sparse_fit`) stores values for these only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from arena.ratings.line_ups import pairs
from arena.ratings.packed_sums import LineUpBlock
from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays

SmallInts = NDArray[np.int32]

ROWS_AT_ONCE: Final = 1 << 16
"""Number of line-ups processed at once."""


@dataclass(frozen=True, eq=False)
class PairGraph:
    """The pairs that have met, sorted by their first and second entrant.

    Attributes:
        size: number of entrants.
        first: the lower number of each pair: (pairs,).
        second: the higher number of each pair: (pairs,).
        count: numbers of matches: (pairs,).
        score: sums of the mean scores of the lower number: (pairs,).
    """

    size: int
    first: SmallInts
    second: SmallInts
    count: Floats
    score: Floats

    def __len__(self) -> int:
        return len(self.second)

    @cached_property
    def start(self) -> Ints:
        """Position of the first pair of each entrant as the lower number: (size + 1,)."""
        return np.searchsorted(self.first, np.arange(self.size + 1))

    def selection(self, selected: NDArray[np.bool_]) -> PairGraph:
        """Return the graph of some of the pairs."""
        first, second = self.first[selected], self.second[selected]
        return PairGraph(self.size, first, second, self.count[selected], self.score[selected])

    def sums(self, values: NDArray[np.floating[Any]]) -> Floats:
        """Return the sum over its pairs, for each entrant: (size,)."""
        total: Floats = np.bincount(self.first, values, self.size).astype(np.float64)
        total += np.bincount(self.second, values, self.size)
        return total

    @property
    def opponents(self) -> Ints:
        """The number of opponents of each entrant: (size,)."""
        return self.sums(np.ones(len(self))).astype(np.int64)

    @property
    def points(self) -> tuple[Floats, Floats]:
        """The largest possible sum of mean scores of each entrant, and the actual one."""
        got: Floats = np.bincount(self.first, self.score, self.size).astype(np.float64)
        got += np.bincount(self.second, self.count - self.score, self.size)
        return self.sums(self.count), got


def pair_graph(table: MeetingArrays) -> PairGraph:
    """Return the pairs of a table that have met."""
    every = [
        _keys(table.size, block.entrants, first, second)
        for block in table.blocks
        for first, second in pairs(block.seats)
    ]
    keys = np.sort(np.concatenate([np.zeros(0, np.int64), *every]))
    # `np.unique` takes ten times as long for millions of keys.
    keys = keys[np.diff(keys, prepend=-1) > 0]
    del every
    count, score = np.zeros(len(keys)), np.zeros(len(keys))
    # Half points are integers, so their sums are exact. They are divided at the end.
    halves: dict[int, Floats] = {}
    for block in table.blocks:
        summed = halves.setdefault(block.games, np.zeros(len(keys)))
        for place, (first, second) in enumerate(pairs(block.seats)):
            at = np.searchsorted(keys, _keys(table.size, block.entrants, first, second))
            count += np.bincount(at, block.matches, len(keys))
            summed += np.bincount(at, block.halves[:, place], len(keys))
    for games, summed in sorted(halves.items()):
        score += summed / (2 * games)
    first_ends, second_ends = np.divmod(keys, max(table.size, 1))
    return PairGraph(
        table.size, first_ends.astype(np.int32), second_ends.astype(np.int32), count, score
    )


def line_up_places(
    table: MeetingArrays, graph: PairGraph
) -> Iterator[tuple[LineUpBlock, Any, Any]]:
    """Yield some line-ups at once: their block, the rows, and the positions of their pairs.

    The positions have the shape (rows, pairs).
    """
    keys = graph.first.astype(np.int64) * graph.size + graph.second
    for block in table.blocks:
        for begin in range(0, len(block.matches), ROWS_AT_ONCE):
            rows = slice(begin, begin + ROWS_AT_ONCE)
            entrants = block.entrants[rows]
            columns = [
                np.searchsorted(keys, _keys(graph.size, entrants, first, second))
                for first, second in pairs(block.seats)
            ]
            yield block, rows, np.column_stack(columns)


def pair_squares(table: MeetingArrays, graph: PairGraph) -> Floats:
    """Return the sum over matches of the squared mean score of each pair: (pairs,)."""
    squares = np.zeros(len(graph))
    for block, rows, at in line_up_places(table, graph):
        for place in range(at.shape[1]):
            np.add.at(squares, at[:, place], block.squares(place, rows) / (2 * block.games) ** 2)
    return squares


def _keys(size: int, entrants: NDArray[Any], first: int, second: int) -> Ints:
    """Return a number for each pair of two columns, by which pairs are sorted."""
    return np.asarray(entrants[:, first].astype(np.int64) * size + entrants[:, second])
