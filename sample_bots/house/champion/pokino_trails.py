"""Enumeration of the runs that a hand could play on Pokino's table.

A run is a trail in a graph: the vertices are the squares, the edges (*steps*) are the open borders
between them. It crosses no border twice, and its squares need the numbers of the hand.

A run of a whole hand of 26 cards is the union of two trails of 13 squares that begin on both sides
of one border. So only the trails of 13 squares, a few thousand, are listed. Two of them are joined
if together they have the numbers of the hand and cross different borders.

Two sets are stored as bits, so that numpy compares many trails at once:

- The counts of the 13 numbers of some cards are one 64-bit integer, four bits per number. Removing
  a card of number n subtracts ``1 << 4 * n``.
- The steps of a trail are the bits of as many 64-bit words as the table needs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pokino_placements import CARD_NUMBERS

from referee.games.pokino.layout import Ground, around

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
BitArray = NDArray[np.uint64]
"""Packed counts of cards, or sets of steps."""
Path = tuple[int, ...]
"""Squares from the start of a run, as the referee encodes them."""

COUNT_BITS = 4
"""Bits of the count of one number in packed counts."""
COUNT_MASK = np.uint64(15)
ONE = np.uint64(1)
NO_CARDS = ~np.uint64(0)
"""Packed counts that no hand has."""
WORD_BITS = 64
"""Steps per word of a set of steps."""
STEP_KEY_BITS = 10
"""Lower bits of a join key: twice the number of a step, plus one bit for the side."""
MAX_TRAIL_PAIRS = 20_000
"""Pairs of trails with the numbers of a hand whose steps are compared, at most."""


def pack_counts(counts: IntArray) -> int:
    """Return the counts of the 13 numbers as one integer."""
    return sum(int(count) << (COUNT_BITS * number) for number, count in enumerate(counts))


class RunGraph:
    """The squares of a table, and the steps that a run may take.

    Squares have indices from 0 to ``size - 1``. Directions are those of
    `referee.games.pokino.layout.around`: up, left, right, down.

    Attributes:
        squares: the encoded square of each index.
        numbers: the number of each square, shape (size,).
        neighbour: index of the next square by direction, shape (size + 1, 4). The index ``size``
            (the last row) stands for a neighbour that a run cannot reach.
        step: index of the step by direction, shape (size + 1, 4); 0 without a step.
        step_bits: the same step as a set of steps, shape (size + 1, 4, words).
        count_shift: shift of a square's number in packed counts, shape (size + 1,). The last row
            has the shift of a number that no card has.
    """

    def __init__(self, ground: Ground, cross_middles: bool) -> None:
        """Index the squares and steps.

        Args:
            ground: the table.
            cross_middles: whether runs may cross the middles of dominoes.
        """
        pairs = {**ground.borders, **ground.middles} if cross_middles else ground.borders
        index_of_square = {square: index for index, square in enumerate(ground.numbers)}
        index_of_step = {pair: index for index, pair in enumerate(pairs)}
        self.squares = list(ground.numbers)
        size, words = len(self.squares), len(pairs) // WORD_BITS + 1
        self.numbers: IntArray = np.array(list(ground.numbers.values()), dtype=np.int64)
        self.neighbour: IntArray = np.full((size + 1, 4), size)
        self.step: IntArray = np.zeros((size + 1, 4), dtype=np.int64)
        self.step_bits: BitArray = np.zeros((size + 1, 4, words), dtype=np.uint64)
        for square, index in index_of_square.items():
            for direction, (neighbour, pair) in enumerate(around(square)):
                if pair in index_of_step:
                    step = self.step[index, direction] = index_of_step[pair]
                    self.neighbour[index, direction] = index_of_square[neighbour]
                    bit = ONE << np.uint64(step % WORD_BITS)
                    self.step_bits[index, direction, step // WORD_BITS] = bit
        shifts = [COUNT_BITS * number for number in (*self.numbers, CARD_NUMBERS)]
        self.count_shift: BitArray = np.array(shifts, dtype=np.uint64)


class Trails(NamedTuple):
    """Trails of one length, as arrays with a row per trail."""

    start: IntArray
    """Index of the first square."""
    end: IntArray
    """Index of the last square."""
    rest: BitArray
    """The cards of the hand that the trail does not need, packed."""
    steps: BitArray
    """The steps of the trail as a set, shape (trails, words)."""
    prefix: IntArray
    """Row of the trail without its last square, among the trails that are one square shorter."""


@dataclass(frozen=True)
class RunPair:
    """Two runs that together play a hand."""

    first: Path
    second: Path


class HandTrails:
    """The trails of a hand, listed by length.

    Attributes:
        by_length: the trails of 1, 2, 3, ... squares. Of a length with many trails, only a random
            sample is listed.
    """

    def __init__(
        self,
        graph: RunGraph,
        counts: IntArray,
        max_length: int,
        max_trails: int,
        rng: np.random.Generator,
    ) -> None:
        """List the trails.

        Args:
            graph: the table.
            counts: cards of the hand by number, shape (13,).
            max_length: squares of the longest trails.
            max_trails: trails of each length, at most.
            rng: chooses the sample if there are more.
        """
        self.graph, self.cards = graph, int(counts.sum())
        self.hand = np.uint64(pack_counts(counts))
        start = np.flatnonzero(counts[graph.numbers] > 0)
        rest = self.hand - (ONE << graph.count_shift[start])
        no_steps: BitArray = np.zeros((len(start), graph.step_bits.shape[2]), dtype=np.uint64)
        self.by_length = [Trails(start, start, rest, no_steps, start)]
        for _ in range(1, max_length):
            longer = self._extended(self.by_length[-1], max_trails, rng)
            if not len(longer.end):
                break
            self.by_length.append(longer)

    def _extended(self, trails: Trails, max_trails: int, rng: np.random.Generator) -> Trails:
        """Return the trails that are one square longer."""
        graph = self.graph
        # 1. Directions with a next square whose number is in the rest of the hand.
        neighbour = graph.neighbour[trails.end]
        held = (trails.rest[:, None] >> graph.count_shift[neighbour]) & COUNT_MASK > 0
        prefix, direction = np.nonzero(held & (neighbour < len(graph.squares)))
        # 2. Without those whose step is already part of the trail.
        bits = graph.step_bits[trails.end[prefix], direction]
        new_step = np.flatnonzero(~(bits & trails.steps[prefix]).any(axis=1))
        if len(new_step) > max_trails:
            new_step = np.sort(rng.choice(new_step, max_trails, replace=False))
        prefix, direction, bits = prefix[new_step], direction[new_step], bits[new_step]
        # 3. One longer trail for each remaining pair of a trail and a direction.
        end = neighbour[prefix, direction]
        return Trails(
            trails.start[prefix],
            end,
            trails.rest[prefix] - (ONE << graph.count_shift[end]),
            trails.steps[prefix] | bits,
            prefix,
        )

    def path(self, length: int, index: int) -> Path:
        """Return the squares of a trail from its start, given its length and its row."""
        squares = []
        for trails in reversed(self.by_length[:length]):
            squares.append(self.graph.squares[trails.end[index]])
            index = int(trails.prefix[index])
        return tuple(reversed(squares))

    def whole_run_halves(self) -> list[tuple[int, int]]:
        """Return the rows of pairs of trails that make a run of all cards.

        The first trail has half of the cards, rounded down; the second one has the others. Both
        begin at the step between them. A join key has the counts of the first trail's cards, that
        step, and the side from which the step is taken. So two trails fit if their keys are equal.
        They must also have no step in common.
        """
        short = self.cards // 2
        if not short or len(self.by_length) < self.cards - short:
            return []
        first, second = self.by_length[short - 1], self.by_length[self.cards - short - 1]
        # The second trail needs the other cards, so its rest equals those of the first trail, and
        # the other way round. The side of its step is the opposite one.
        first_keys, first_rows = self._join_keys(first, first.rest, 0)
        second_keys, second_rows = self._join_keys(second, self.hand - second.rest, 1)
        return [
            (int(first_rows[one]), int(second_rows[other]))
            for one, other in zip(*equal_pairs(first_keys, second_keys), strict=True)
            if not (first.steps[first_rows[one]] & second.steps[second_rows[other]]).any()
        ]

    def _join_keys(self, trails: Trails, counts: BitArray, flip: int) -> tuple[BitArray, IntArray]:
        """Return a key for every step that could precede a trail, and the trail's row.

        Args:
            trails: the trails.
            counts: packed counts for the key, by trail.
            flip: 1 exchanges the two sides of a step, else 0.
        """
        graph = self.graph
        free = graph.neighbour[trails.start] < len(graph.squares)
        free &= ~(graph.step_bits[trails.start] & trails.steps[:, None]).any(axis=2)
        rows, direction = np.nonzero(free)
        # Up and left (0, 1) are one side of a step; right and down (2, 3) are the other.
        side = (direction >= 2) ^ flip
        step_key = 2 * graph.step[trails.start[rows], direction] + side
        return counts[rows] << np.uint64(STEP_KEY_BITS) | step_key.astype(np.uint64), rows

    def whole_run(self) -> Path | None:
        """Return a run of all cards, if there is one."""
        halves = self.whole_run_halves()
        if not halves:
            return None
        short = self.cards // 2
        first, second = halves[0]
        return (*reversed(self.path(short, first)), *self.path(self.cards - short, second))

    def run_pairs(
        self, may_remain: Callable[[BitArray], BoolArray], max_first: int
    ) -> Iterator[RunPair]:
        """Yield at most one pair of runs that play all cards for each length of the first run.

        Args:
            may_remain: for packed counts, whether the first run may leave these cards.
            max_first: maximum number of cards of the first run.
        """
        for length in range(min(max_first, self.cards - 2), 1, -1):
            second_length = self.cards - length
            if max(length, second_length) > len(self.by_length):
                continue
            first, second = self.by_length[length - 1], self.by_length[second_length - 1]
            # The second run needs exactly the cards that the first one leaves.
            rest = np.where(may_remain(first.rest), first.rest, NO_CARDS)
            for one, other in zip(*equal_pairs(rest, self.hand - second.rest), strict=True):
                if not (first.steps[one] & second.steps[other]).any():
                    yield RunPair(self.path(length, int(one)), self.path(second_length, int(other)))
                    break


def equal_pairs(
    left: BitArray, right: BitArray, max_pairs: int = MAX_TRAIL_PAIRS
) -> tuple[IntArray, IntArray]:
    """Join two arrays by equal values.

    Returns:
        Indices into ``left`` and into ``right``: one pair for each two equal elements, ordered by
        the index into ``right``, at most ``max_pairs``.
    """
    order = np.argsort(left, kind="stable")
    # Elements of the sorted `left` that equal right[i]: from low[i], count[i] of them.
    low = np.searchsorted(left, right, "left", sorter=order)
    count = np.searchsorted(left, right, "right", sorter=order) - low
    # Pair p belongs to right[right_index[p]], and is number p - offset[...] of its pairs.
    offset = np.cumsum(count) - count
    total = min(int(count.sum()), max_pairs)
    right_index = np.repeat(np.arange(len(right)), count)[:total]
    left_index = order[low[right_index] + np.arange(total) - offset[right_index]]
    return left_index, right_index
