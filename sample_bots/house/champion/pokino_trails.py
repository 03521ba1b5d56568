"""Enumeration of the runs that a hand could play on Pokino's table, and of two that play it all.

A run is a trail in the graph of squares and open borders: it crosses no border twice, and its
squares need the numbers of the hand. A run of a whole hand of 26 cards has two halves that begin
on both sides of a border. So it suffices to list the trails of 13 squares, a few thousand, and to
join those that together have the numbers of the hand and cross different borders.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.games.pokino.layout import Ground, around

Indices = NDArray[np.int64]
Bits = NDArray[np.uint64]
Path = tuple[int, ...]
"""Squares as the referee encodes them."""

NUMBERS = 13
WIDTH = 4
"""Bits of the count of a number: a hand with 13 counts is a 64-bit integer."""
JOINED = 20_000
"""Pairs of trails with the numbers of a hand that are compared."""
ONE = np.uint64(1)


def packed(counts: Indices) -> int:
    """Return the counts of the 13 numbers as one integer."""
    return sum(int(count) << (WIDTH * number) for number, count in enumerate(counts))


class RunGraph:
    """The squares of a table with the steps that a run may take."""

    def __init__(self, ground: Ground, walls: bool) -> None:
        """Index the squares; a missing neighbour has the index after the last square.

        Args:
            ground: the table.
            walls: whether a run may cross middles.
        """
        steps = {**ground.borders, **ground.middles} if walls else ground.borders
        at = {square: index for index, square in enumerate(ground.numbers)}
        self.squares = list(ground.numbers)
        size = len(at)
        self.numbers = np.array(list(ground.numbers.values()), dtype=np.int64)
        self.beside: Indices = np.full((size + 1, 4), size)
        self.step: Indices = np.zeros((size + 1, 4), dtype=np.int64)
        index_of = {two: index for index, two in enumerate(steps)}
        words = len(steps) // 64 + 1
        self.bit: Bits = np.zeros((size + 1, 4, words), dtype=np.uint64)
        for square, index in at.items():
            for way, (other, two) in enumerate(around(square)):
                if two in index_of:
                    step = self.step[index, way] = index_of[two]
                    self.beside[index, way] = at[other]
                    self.bit[index, way, step // 64] = ONE << np.uint64(step % 64)
        shifts = [WIDTH * number for number in (*self.numbers, NUMBERS)]
        self.shift: Bits = np.array(shifts, dtype=np.uint64)


class Trails(NamedTuple):
    """Trails of one length, as arrays."""

    start: Indices
    end: Indices
    left: Bits
    """The cards of the hand that remain, packed."""
    crossed: Bits
    """The steps as bits."""
    shorter: Indices
    """Index of the trail without its last square."""


@dataclass(frozen=True)
class Split:
    """Two runs that together play a hand."""

    first: Path
    second: Path


class HandTrails:
    """The trails of a hand by length; a random sample of those of a length if there are many."""

    def __init__(
        self,
        graph: RunGraph,
        counts: Indices,
        longest: int,
        limit: int,
        chance: np.random.Generator,
    ) -> None:
        self.graph, self.cards = graph, int(counts.sum())
        self.whole = np.uint64(packed(counts))
        start = np.flatnonzero(counts[graph.numbers] > 0)
        left = self.whole - (ONE << graph.shift[start])
        crossed: Bits = np.zeros((len(start), graph.bit.shape[2]), dtype=np.uint64)
        self.lengths = [Trails(start, start, left, crossed, start)]
        for _ in range(1, longest):
            longer = self._longer(self.lengths[-1], limit, chance)
            if not len(longer.end):
                break
            self.lengths.append(longer)

    def _longer(self, trails: Trails, limit: int, chance: np.random.Generator) -> Trails:
        """Extend trails by one square."""
        graph = self.graph
        beside = graph.beside[trails.end]
        held = (trails.left[:, None] >> graph.shift[beside]) & np.uint64(15) > 0
        shorter, way = np.nonzero(held & (beside < len(graph.squares)))
        bits = graph.bit[trails.end[shorter], way]
        fresh = np.flatnonzero(~(bits & trails.crossed[shorter]).any(axis=1))
        if len(fresh) > limit:
            fresh = np.sort(chance.choice(fresh, limit, replace=False))
        shorter, way, bits = shorter[fresh], way[fresh], bits[fresh]
        end = beside[shorter, way]
        return Trails(
            trails.start[shorter],
            end,
            trails.left[shorter] - (ONE << graph.shift[end]),
            trails.crossed[shorter] | bits,
            shorter,
        )

    def path(self, length: int, index: int) -> Path:
        """Return the squares of a trail from its start."""
        squares = []
        for trails in reversed(self.lengths[:length]):
            squares.append(self.graph.squares[trails.end[index]])
            index = int(trails.shorter[index])
        return tuple(reversed(squares))

    def whole_runs(self) -> list[tuple[int, int]]:
        """Return pairs of halves that make a run of all cards.

        The halves have the first half of the cards, rounded down, and the others. Each half
        begins at the border between them. A key has the counts of a half, that border, and the
        side of the border, so that halves with equal keys fit together.
        """
        short = self.cards // 2
        if not short or len(self.lengths) < self.cards - short:
            return []
        one, other = self.lengths[short - 1], self.lengths[self.cards - short - 1]
        mine, at = self._joints(one, one.left, 0)
        theirs, to = self._joints(other, self.whole - other.left, 1)
        return [
            (int(at[first]), int(to[second]))
            for first, second in zip(*equal_pairs(mine, theirs), strict=True)
            if not (one.crossed[at[first]] & other.crossed[to[second]]).any()
        ]

    def _joints(self, trails: Trails, counts: Bits, side: int) -> tuple[Bits, Indices]:
        """Return a key for every step that could precede a trail, and the trail's index."""
        graph = self.graph
        free = graph.beside[trails.start] < len(graph.squares)
        free &= ~(graph.bit[trails.start] & trails.crossed[:, None]).any(axis=2)
        index, way = np.nonzero(free)
        # `around` names up and left before right and down.
        joint = 2 * graph.step[trails.start[index], way] + ((way >= 2) ^ side)
        return counts[index] << np.uint64(10) | joint.astype(np.uint64), index

    def whole_run(self) -> Path | None:
        """Return a run of all cards, if there is one."""
        found = self.whole_runs()
        if not found:
            return None
        short = self.cards // 2
        first, second = found[0]
        return (*reversed(self.path(short, first)), *self.path(self.cards - short, second))

    def splits(self, playable: Callable[[Bits], Any], most: int) -> Iterator[Split]:
        """Yield pairs of runs that play all cards.

        Args:
            playable: returns for remaining cards, packed, whether the first run may leave them.
            most: maximum number of cards of the first run.
        """
        for length in range(min(most, self.cards - 2), 1, -1):
            if max(length, self.cards - length) > len(self.lengths):
                continue
            one, other = self.lengths[length - 1], self.lengths[self.cards - length - 1]
            left = np.where(playable(one.left), one.left, ~np.uint64(0))
            for first, second in zip(*equal_pairs(left, self.whole - other.left), strict=True):
                if not (one.crossed[first] & other.crossed[second]).any():
                    yield Split(
                        self.path(length, int(first)),
                        self.path(self.cards - length, int(second)),
                    )
                    break


def equal_pairs(ones: Bits, others: Bits, most: int = JOINED) -> tuple[Indices, Indices]:
    """Return the indices of pairs of equal elements, at most ``most``."""
    order = np.argsort(ones, kind="stable")
    first = np.searchsorted(ones, others, "left", sorter=order)
    number = np.searchsorted(ones, others, "right", sorter=order) - first
    before = np.cumsum(number) - number
    total = min(int(number.sum()), most)
    second = np.repeat(np.arange(len(others)), number)[:total]
    return order[first[second] + np.arange(total) - before[second]], second
