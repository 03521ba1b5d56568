"""The pairs that have met, as a sparse symmetric graph; entrants are numbers from 0.

A ladder of 10,000 entrants has 50 million pairs, but only a few million of them have met. The
solver for large ladders (`arena.ratings.strength.sparse_solver`) stores values for these only. It
visits all pairs in blocks, so that intermediate arrays stay small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ratings.line_ups import pairs
from arena.ratings.packed_sums import LineUpBlock
from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays

SmallInts = NDArray[np.int32]
Singles = NDArray[np.float32]

AT_ONCE = 1 << 18
"""Number of pairs or line-ups processed at once."""


class PairBlock(NamedTuple):
    """Some pairs of a graph.

    Attributes:
        at: their positions among all pairs.
        first: the lower number of each pair.
        second: the higher number of each pair.
        matches: numbers of their matches.
        score: sums of the mean scores of the first entrant.
    """

    at: slice | Ints
    first: Ints
    second: Ints
    matches: Floats
    score: Floats


@dataclass(frozen=True, eq=False)
class PairGraph:
    """The pairs that have met, sorted by their first and second entrant.

    Attributes:
        size: number of entrants.
        start: position of the first pair of each entrant as the lower number: (size + 1,).
        second: the higher number of each pair: (pairs,).
        count: numbers of matches: (pairs,).
        score: sums of the mean scores of the lower number: (pairs,).
    """

    size: int
    start: Ints
    second: SmallInts
    count: SmallInts
    score: Floats

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.second)

    def firsts(self, at: slice) -> Ints:
        """Return the lower number of each of these pairs."""
        return self._firsts_of(np.arange(at.start, at.stop))

    def _firsts_of(self, numbers: Ints | SmallInts) -> Ints:
        return np.asarray(np.searchsorted(self.start, numbers, side="right") - 1)

    def places(self, first: Ints, second: Ints) -> Ints:
        """Return the positions of some pairs.

        Only pairs from the least to the greatest first entrant are compared, which are few for
        consecutive line-ups.
        """
        low, high = int(np.min(first, initial=self.size)), int(np.max(first, initial=-1))
        if high < low:
            return np.zeros(0, np.int64)
        at = slice(int(self.start[low]), int(self.start[high + 1]))
        counts = np.diff(self.start[low : high + 2])
        known = np.repeat(np.arange(low, high + 1) * self.size, counts)
        known += self.second[at]
        return np.asarray(at.start + np.searchsorted(known, first * self.size + second))

    def blocks(self) -> Iterator[PairBlock]:
        """Yield all pairs in blocks."""
        for begin in range(0, len(self), AT_ONCE):
            at = slice(begin, min(begin + AT_ONCE, len(self)))
            second = self.second[at].astype(np.int64)
            count = self.count[at].astype(np.float64)
            yield PairBlock(at, self.firsts(at), second, count, self.score[at])

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The lower and the higher number of each pair."""
        return self.firsts(slice(0, len(self))), self.second.astype(np.int64)

    @cached_property
    def rows(self) -> GraphRows:
        """The same pairs by entrant: each pair occurs in the rows of both entrants."""
        # Pairs are sorted by the first entrant, so a stable sort keeps opponents in order.
        turned = np.argsort(self.second, kind="stable").astype(np.int32)
        lower = np.bincount(self.second, minlength=self.size)
        upper = np.diff(self.start)
        start = np.zeros(self.size + 1, np.int64)
        np.cumsum(lower + upper, out=start[1:])
        opponent = np.empty(2 * len(self), np.int32)
        pair = np.empty(2 * len(self), np.int32)
        # The opponents with lower numbers come first in each row.
        to_lower = start[:-1] - np.concatenate(([0], np.cumsum(lower)[:-1]))
        to_upper = start[:-1] + lower - self.start[:-1]
        for begin in range(0, len(self), AT_ONCE):
            numbers = np.arange(begin, min(begin + AT_ONCE, len(self)))
            at = numbers + to_upper[self._firsts_of(numbers)]
            opponent[at], pair[at] = self.second[numbers], numbers
            pairs_of = turned[numbers]
            at = numbers + to_lower[self.second[pairs_of]]
            opponent[at], pair[at] = self._firsts_of(pairs_of), pairs_of
        return GraphRows(start, opponent, pair)

    def selection(self, selected: NDArray[np.bool_]) -> PairGraph:
        """Return the graph of some of the pairs."""
        before = np.zeros(len(self) + 1, np.int64)
        np.cumsum(selected, out=before[1:])
        return PairGraph(
            self.size,
            before[self.start],
            self.second[selected],
            self.count[selected],
            self.score[selected],
        )

    def sums(self, values: Floats | Singles) -> Floats:
        """Return the sum over its pairs, for each entrant: (size,)."""
        total = np.zeros(self.size)
        for block in self.blocks():
            total += np.bincount(block.first, values[block.at], self.size)
            total += np.bincount(block.second, values[block.at], self.size)
        return total

    @property
    def opponents(self) -> Ints:
        """The number of opponents of each entrant: (size,)."""
        return np.asarray(np.diff(self.rows.start))

    @property
    def points(self) -> tuple[Floats, Floats]:
        """The largest possible sum of mean scores of each entrant, and the actual one."""
        most, got = np.zeros(self.size), np.zeros(self.size)
        for block in self.blocks():
            most += np.bincount(block.first, block.matches, self.size)
            most += np.bincount(block.second, block.matches, self.size)
            got += np.bincount(block.first, block.score, self.size)
            got += np.bincount(block.second, block.matches - block.score, self.size)
        return most, got

    def labels(self) -> Ints:
        """Return the least number of the connected component of each entrant: (size,).

        Every entrant takes the least label among its opponents, then the label of that label
        (pointer jumping), until nothing changes.
        """
        labels = np.arange(self.size)
        while True:
            before = labels.copy()
            for block in self.blocks():
                least = np.minimum(labels[block.first], labels[block.second])
                np.minimum.at(labels, block.first, least)
                np.minimum.at(labels, block.second, least)
            while not np.array_equal(labels, labels[labels]):
                labels = labels[labels]
            if np.array_equal(labels, before):
                return labels


class GraphRows(NamedTuple):
    """The rows of the symmetric matrix of a graph.

    Attributes:
        start: position of the first entry of each row: (size + 1,).
        opponent: the column of each entry: (2 * pairs,).
        pair: the pair of each entry: (2 * pairs,).
    """

    start: Ints
    opponent: SmallInts
    pair: SmallInts


def pair_graph(table: MeetingArrays) -> PairGraph:
    """Return the pairs of a table that have met."""
    keys = _distinct(
        [
            _keys(block, slice(None), first, second, table.size)
            for block in table.blocks
            for first, second in pairs(block.seats)
        ]
    )
    start = np.searchsorted(keys, np.arange(table.size + 1) * table.size)
    second = (keys % max(table.size, 1)).astype(np.int32)
    del keys
    graph = PairGraph(
        table.size, start, second, np.zeros(len(second), np.int32), np.zeros(len(second))
    )
    # Half points are integers, so their sums are exact. They are divided at the end.
    for games in sorted({block.games for block in table.blocks}):
        halves = np.zeros(len(graph))
        for block in table.blocks:
            for rows in chunks(block) if block.games == games else ():
                for place, at in enumerate(places(graph, block, rows).T):
                    # Within a block of larger tables, a pair may occur in several rows.
                    np.add.at(graph.count, at, block.matches[rows].astype(np.int32))
                    np.add.at(halves, at, block.halves[rows, place].astype(np.float64))
        halves /= 2 * games
        graph.score[:] += halves
    return graph


def _distinct(parts: Sequence[Ints]) -> Ints:
    """Return the sorted distinct numbers of some arrays."""
    keys = np.concatenate([np.zeros(0, np.int64), *parts])
    keys.sort()
    return keys[np.diff(keys, prepend=-1) > 0]


def chunks(block: LineUpBlock) -> Iterator[slice]:
    """Yield consecutive rows of a block."""
    for begin in range(0, len(block.matches), AT_ONCE):
        yield slice(begin, min(begin + AT_ONCE, len(block.matches)))


def places(graph: PairGraph, block: LineUpBlock, rows: slice) -> Ints:
    """Return the positions of the pairs of some line-ups in a graph: (rows, pairs)."""
    columns = block.entrants[rows].astype(np.int64).T
    return np.column_stack(
        [graph.places(columns[first], columns[second]) for first, second in pairs(block.seats)]
    )


def pair_squares(table: MeetingArrays, graph: PairGraph) -> Floats:
    """Return the sum over matches of the squared mean score of each pair: (pairs,)."""
    squares = np.zeros(len(graph))
    for block in table.blocks:
        for rows in chunks(block):
            at = places(graph, block, rows)
            for place in range(at.shape[1]):
                added = block.squares(place, rows) / (2 * block.games) ** 2
                np.add.at(squares, at[:, place], added)
    return squares


def _keys(block: LineUpBlock, rows: slice, first: int, second: int, size: int) -> Ints:
    keys = block.entrants[rows, first].astype(np.int64)
    keys *= size
    keys += block.entrants[rows, second]
    return keys
