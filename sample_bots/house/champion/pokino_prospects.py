"""How soon small hands can be played on many tables of Pokino, computed for all at once.

A *problem* is a hand on a table. The tables of all problems become one graph without steps between
them, so that one enumeration lists the trails of all hands (see `pokino_trails.py`).

The main prospects of a hand are whether one run plays it whole, and how probable it is that one run
can play it whole after another action and the card that is then drawn. The drawn card is unknown.
So the enumeration also lists trails with one *wild card*, which takes the place of any number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pokino_placements import CARD_NUMBERS
from pokino_trails import (
    COUNT_BITS,
    COUNT_MASK,
    ONE,
    WORD_BITS,
    BitArray,
    BoolArray,
    IntArray,
    equal_pairs,
    pack_counts,
)

from referee.games.pokino.layout import DOWN, Ground

FloatArray = NDArray[np.float64]

SQUARE_BITS = 22
"""Bits of a square as the referee encodes it; the problem is stored in the bits above."""
PROBLEM_BITS = 11
"""Bits of a problem in a key, so at most 2048 problems; the packed counts are above."""
MAX_TRAILS_PER_PROBLEM = 300
"""Trails of each length and problem, at most."""
MAX_RUN_PAIRS = 100_000
"""Pairs of runs that are compared for all problems, at most."""
WILD_UNUSED = 13
"""Value of :attr:`WildTrails.wild`: the trail may still use the wild card."""
NO_WILD = 14
"""Value of :attr:`WildTrails.wild`: the hand has no wild card."""


@dataclass(frozen=True, slots=True)
class HandOnTable:
    """A problem: a hand, as counts by number, on a table."""

    ground: Ground
    counts: Sequence[float]


class TableUnion:
    """The squares of many tables, and the steps that a run may take.

    Squares have indices from 0 to ``size - 1``, ordered by problem. Directions are up, left, right,
    down.

    Attributes:
        size: number of squares.
        problem: the problem of each square, shape (size,).
        numbers: the number of each square, shape (size + 1,); 13 in the last row.
        neighbour: index of the next square by direction, shape (size + 1, 4). The index ``size``
            stands for a neighbour that a run cannot reach.
        step_bits: the step by direction as a set of steps of its table, shape (size + 1, 4, words).
        count_shift: shift of a square's number in packed counts, shape (size + 1,).
    """

    def __init__(self, grounds: Sequence[Ground], cross_middles: bool) -> None:
        """Index the squares and steps.

        Args:
            grounds: the table of each problem.
            cross_middles: whether runs may cross the middles of dominoes.
        """
        # A square of the union is the problem (upper bits) and the referee's square (lower bits).
        square_parts, number_parts, pair_parts, offset_parts, step_parts = [], [], [], [], []
        for problem, ground in enumerate(grounds):
            offset = problem << SQUARE_BITS
            square_parts.append(np.fromiter(ground.numbers, np.int64) + offset)
            number_parts.append(np.fromiter(ground.numbers.values(), np.int64))
            pairs = [*ground.borders, *ground.middles] if cross_middles else [*ground.borders]
            pair_parts.append(np.array(pairs, dtype=np.int64))
            offset_parts.append(np.full(len(pairs), offset))
            step_parts.append(np.arange(len(pairs)))
        squares = np.concatenate(square_parts)
        order = np.argsort(squares, kind="stable")
        squares = squares[order]
        self.size = len(squares)
        self.problem: IntArray = squares >> SQUARE_BITS
        self.numbers: IntArray = np.append(np.concatenate(number_parts)[order], CARD_NUMBERS)
        self.count_shift: BitArray = (COUNT_BITS * self.numbers).astype(np.uint64)
        self._add_steps(
            squares,
            np.concatenate(pair_parts),
            np.concatenate(offset_parts),
            np.concatenate(step_parts),
        )

    def _add_steps(
        self, squares: IntArray, pairs: IntArray, offsets: IntArray, steps: IntArray
    ) -> None:
        """Fill the neighbours and the step bits.

        Args:
            squares: the sorted squares of the union.
            pairs: the referee's code of each step: twice its left or upper square, plus one if the
                other square is below.
            offsets: the problem of each step, as the upper bits of a square.
            steps: the number of each step within its table.
        """
        down = pairs & 1
        first = np.searchsorted(squares, (pairs >> 1) + offsets)
        second = np.searchsorted(squares, (pairs >> 1) + np.where(down, DOWN, 1) + offsets)
        words = int(steps.max(initial=0)) // WORD_BITS + 1
        self.neighbour: IntArray = np.full((self.size + 1, 4), self.size)
        self.step_bits: BitArray = np.zeros((self.size + 1, 4, words), dtype=np.uint64)
        bit = ONE << (steps % WORD_BITS).astype(np.uint64)
        # From the first square the step goes right (2) or down (3); back, it goes left (1) or up.
        self.neighbour[first, 2 + down] = second
        self.neighbour[second, 1 - down] = first
        self.step_bits[first, 2 + down, steps // WORD_BITS] = bit
        self.step_bits[second, 1 - down, steps // WORD_BITS] = bit


class WildTrails(NamedTuple):
    """Trails of one length, as arrays with a row per trail, ordered by problem."""

    problem: IntArray
    start: IntArray
    """Index of the first square."""
    end: IntArray
    """Index of the last square."""
    rest: BitArray
    """The cards of the hand that the trail does not need, packed."""
    wild: IntArray
    """The number for which the wild card is used, or WILD_UNUSED, or NO_WILD."""
    steps: BitArray
    """The steps of the trail as a set, shape (trails, words)."""

    def chosen(self, rows: BoolArray) -> "WildTrails":
        """Return some of the trails."""
        return WildTrails(
            self.problem[rows],
            self.start[rows],
            self.end[rows],
            self.rest[rows],
            self.wild[rows],
            self.steps[rows],
        )


@dataclass(frozen=True)
class Prospects:
    """Prospects of hands, as arrays with a row per problem."""

    whole: BoolArray
    """Whether one run plays the hand."""
    longest_run: FloatArray
    """Cards of the longest run."""
    next_turn: FloatArray
    """Probability that the next turn plays the whole hand.

    Until then the seat plays a run or does something else, and draws a card. Without a draw: 1 if
    two runs play the hand, else 0.
    """
    log_trails: FloatArray
    """Logarithm of 1 + the number of trails of the hand."""
    log_longest_runs: FloatArray
    """Logarithm of 1 + the number of trails with the cards of the longest run."""


def prospects(
    problems: Sequence[HandOnTable], cross_middles: bool, drawn: FloatArray | None
) -> Prospects:
    """Return the prospects of hands.

    Args:
        problems: the hands and tables.
        cross_middles: whether runs may cross the middles of dominoes.
        drawn: probability of each number of the next drawn card, shape (13,); None for no draw.
    """
    union = TableUnion([problem.ground for problem in problems], cross_middles)
    counts = np.array([problem.counts for problem in problems], dtype=np.int64)
    hands = np.array([pack_counts(row) for row in counts], dtype=np.uint64)
    sizes = counts.sum(axis=1)
    whole = np.zeros(len(problems), dtype=bool)
    longest_run, longest_runs, total = np.zeros((3, len(problems)))
    by_length: list[WildTrails] = []
    trails = _single_squares(union, hands, has_wild=drawn is not None)
    while len(trails.end) and len(by_length) <= sizes.max():
        by_length.append(trails)
        length = len(by_length)
        without_wild = trails.problem[trails.wild >= WILD_UNUSED]
        number = np.bincount(without_wild, minlength=len(problems))
        total += number
        longest_runs = np.where(number, number, longest_runs)
        longest_run = np.where(number, length, longest_run)
        whole |= (number > 0) & (sizes == length) & (sizes > 1)
        trails = _extended(union, trails)
    next_turn = _next_turn_probability(by_length[1:], hands, drawn)
    return Prospects(whole, longest_run, next_turn, np.log1p(total), np.log1p(longest_runs))


def _single_squares(union: TableUnion, hands: BitArray, has_wild: bool) -> WildTrails:
    """Return the trails of one square: with a card of its number, and with the wild card."""
    squares = np.arange(union.size)
    held = (hands[union.problem] >> union.count_shift[squares]) & COUNT_MASK > 0
    square, uses_wild = _branches(held, np.full(union.size, has_wild))
    problem = union.problem[square]
    card = np.where(uses_wild, np.uint64(0), ONE << union.count_shift[square])
    no_steps = np.zeros((len(square), union.step_bits.shape[2]), dtype=np.uint64)
    wild = np.where(uses_wild, union.numbers[square], WILD_UNUSED if has_wild else NO_WILD)
    return WildTrails(problem, square, square, hands[problem] - card, wild, no_steps)


def _branches(card: BoolArray, wild: BoolArray) -> tuple[IntArray, BoolArray]:
    """List the possible choices of a card or of the wild card.

    Args:
        card: whether a card is possible, by place.
        wild: whether the wild card is possible, by place; the same shape.

    Returns:
        The flat indices of the places in order, and whether the choice is the wild card. A place
        where both are possible appears twice.
    """
    both = np.stack([card.ravel(), wild.ravel()], axis=1).ravel()
    choice = np.flatnonzero(both)
    return choice >> 1, (choice & 1).astype(bool)


def _extended(union: TableUnion, trails: WildTrails) -> WildTrails:
    """Return the trails that are one square longer."""
    # 1. Directions with a next square for which there is a card or the wild card.
    neighbour = union.neighbour[trails.end]
    held = (trails.rest[:, None] >> union.count_shift[neighbour]) & COUNT_MASK > 0
    wild_free = (trails.wild == WILD_UNUSED)[:, None] & (neighbour < union.size)
    place, uses_wild = _branches(held, wild_free)
    rows, direction = place >> 2, place & 3
    # 2. Without those whose step is already part of the trail.
    bits = union.step_bits[trails.end[rows], direction]
    kept = np.flatnonzero(~(bits & trails.steps[rows]).any(axis=1))
    kept = _limited(kept, trails.problem[rows[kept]])
    rows, direction, bits, uses_wild = rows[kept], direction[kept], bits[kept], uses_wild[kept]
    # 3. One longer trail for each remaining choice.
    end = neighbour[rows, direction]
    card = np.where(uses_wild, np.uint64(0), ONE << union.count_shift[end])
    return WildTrails(
        trails.problem[rows],
        trails.start[rows],
        end,
        trails.rest[rows] - card,
        np.where(uses_wild, union.numbers[end], trails.wild[rows]),
        trails.steps[rows] | bits,
    )


def _limited(rows: IntArray, problem: IntArray) -> IntArray:
    """Return evenly spread rows, at most MAX_TRAILS_PER_PROBLEM of each problem.

    Args:
        rows: the rows, ordered by problem.
        problem: the problem of each row.
    """
    limit = MAX_TRAILS_PER_PROBLEM
    counts = np.bincount(problem)
    if counts.max(initial=0) <= limit:
        return rows
    first = np.cumsum(counts) - counts
    rank = np.arange(len(rows)) - first[problem]
    total = counts[problem]
    # Of `total` rows keep those at which rank * limit / total reaches the next whole number.
    kept = (rank * limit) // total != ((rank - 1) * limit) // total
    return np.asarray(rows[kept | (total <= limit)])


def _next_turn_probability(
    by_length: Sequence[WildTrails], hands: BitArray, drawn: FloatArray | None
) -> FloatArray:
    """Return :attr:`Prospects.next_turn`.

    Args:
        by_length: the trails of 2, 3, ... squares; shorter ones are no runs.
        hands: the packed counts of each problem's hand.
        drawn: as in :func:`prospects`.
    """
    first_parts, second_parts = [], []
    for trails in by_length:
        # A trail and its reverse are the same run.
        one_direction = trails.start <= trails.end
        without_wild = trails.wild >= WILD_UNUSED
        first_parts.append(trails.chosen(one_direction & without_wild))
        # After a draw, the second run plays the drawn card, so its trail uses the wild card.
        fits_second = without_wild if drawn is None else ~without_wild
        second_parts.append(trails.chosen(one_direction & fits_second))
    if not first_parts:
        return np.zeros(len(hands))
    firsts, seconds = _concatenated(first_parts), _concatenated(second_parts)
    # The second run needs exactly the cards that the first one leaves, and other steps.
    left = _keys(firsts.rest, firsts.problem)
    used = _keys(hands[seconds.problem] - seconds.rest, seconds.problem)
    first, second = equal_pairs(left, used, MAX_RUN_PAIRS)
    disjoint = ~(firsts.steps[first] & seconds.steps[second]).any(axis=1)
    if drawn is None:
        pairs = np.bincount(seconds.problem[second[disjoint]], minlength=len(hands))
        return np.minimum(1.0, pairs)
    # A single run of the hand and the drawn card also counts: the turn before is no run.
    alone = np.flatnonzero(seconds.rest == 0)
    last_runs = np.concatenate([second[disjoint], alone])
    playable = np.zeros((len(hands), CARD_NUMBERS), dtype=bool)
    playable[seconds.problem[last_runs], seconds.wild[last_runs]] = True
    return np.asarray(playable @ drawn)


def _concatenated(parts: Sequence[WildTrails]) -> WildTrails:
    """Return all trails of several lengths."""
    return WildTrails(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _keys(counts: BitArray, problem: IntArray) -> BitArray:
    """Return packed counts and problems as one number each."""
    return counts << np.uint64(PROBLEM_BITS) | problem.astype(np.uint64)
