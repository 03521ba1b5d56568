"""How soon small hands can be played on many tables of Pokino, computed for all at once.

A problem is a hand on a table. The tables of all problems are one graph without connections between
them, so that one enumeration lists the trails of all hands.

The main prospects of a hand are whether one run plays it whole, and how probable it is that one run
can play it whole after another action and the card that is then drawn. This run has one card of any
number, the wild card.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pokino_trails import NUMBERS, ONE, WIDTH, Bits, Indices, equal_pairs, packed

from referee.games.pokino.layout import DOWN, Ground

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

SQUARE_BITS = 22
"""Bits of a square as the referee encodes it."""
PROBLEM_BITS = 11
MOST = 300
"""Trails of each length and problem, at most."""
PAIRS = 100_000
"""Pairs of trails that are compared, at most."""
UNUSED = 13
"""State of a wild card that is not part of a trail yet."""
SPENT = 14
"""State of the wild card in hands without one."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A hand, as counts by number, on a table."""

    ground: Ground
    counts: Sequence[float]


class TableUnion:
    """The squares of many tables with the steps that a run may take."""

    def __init__(self, grounds: Sequence[Ground], walls: bool) -> None:
        squares, numbers, firsts, seconds, downs, bits = [], [], [], [], [], []
        for place, ground in enumerate(grounds):
            offset = place << SQUARE_BITS
            squares.append(np.fromiter(ground.numbers, np.int64) + offset)
            numbers.append(np.fromiter(ground.numbers.values(), np.int64))
            steps = [*ground.borders, *ground.middles] if walls else [*ground.borders]
            two = np.array(steps, dtype=np.int64)
            firsts.append((two >> 1) + offset)
            seconds.append((two >> 1) + np.where(two & 1, DOWN, 1) + offset)
            downs.append(two & 1)
            bits.append(np.arange(len(two)))
        keys = np.concatenate(squares)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        self.numbers: Indices = np.concatenate(numbers)[order]
        self.table: Indices = keys >> SQUARE_BITS
        size = self.size = len(keys)
        first = np.searchsorted(keys, np.concatenate(firsts))
        second = np.searchsorted(keys, np.concatenate(seconds))
        down, bit = np.concatenate(downs), np.concatenate(bits)
        words = int(bit.max(initial=0)) // 64 + 1
        self.beside: Indices = np.full((size + 1, 4), size)
        self.bit: Bits = np.zeros((size + 1, 4, words), dtype=np.uint64)
        mask = ONE << (bit % 64).astype(np.uint64)
        self.beside[first, 2 + down] = second
        self.beside[second, 1 - down] = first
        self.bit[first, 2 + down, bit // 64] = mask
        self.bit[second, 1 - down, bit // 64] = mask
        self.shift: Bits = (WIDTH * np.append(self.numbers, NUMBERS)).astype(np.uint64)
        self.kind: Indices = np.append(self.numbers, NUMBERS)


class WildTrails(NamedTuple):
    """Trails of one length, as arrays."""

    problem: Indices
    start: Indices
    end: Indices
    left: Bits
    """The remaining cards of the hand, packed."""
    wild: Indices
    """The number of the wild card, or UNUSED."""
    crossed: Bits

    def chosen(self, which: Any) -> "WildTrails":
        """Return some of the trails."""
        return WildTrails(*(column[which] for column in self))


@dataclass(frozen=True)
class Prospects:
    """Prospects by problem."""

    whole: NDArray[np.bool_]
    """Whether one run plays the hand."""
    reach: Numbers
    """Cards of the longest run."""
    soon: Numbers
    """Probability that after a drawn card, two runs, or after another action one run, play the hand
    and this card; with no draw, 0 or 1 for two runs."""
    trails: Numbers
    """Logarithm of the number of trails of the hand."""
    longest: Numbers
    """Logarithm of the number of trails with the cards of the longest run."""


def prospects(problems: Sequence[Problem], walls: bool, draws: Numbers | None) -> Prospects:
    """Return the prospects of hands.

    Args:
        problems: the hands and tables.
        walls: whether a run may cross middles.
        draws: probability of each number of the next drawn card; None for no draw.
    """
    union = TableUnion([problem.ground for problem in problems], walls)
    counts = np.array([problem.counts for problem in problems], dtype=np.int64)
    hands = np.array([packed(row) for row in counts], dtype=np.uint64)
    sizes = counts.sum(axis=1)
    whole = np.zeros(len(problems), dtype=bool)
    reach, longest, total = np.zeros((3, len(problems)))
    lengths: list[WildTrails] = []
    trails = _single_squares(union, hands, SPENT if draws is None else UNUSED)
    while len(trails.end) and len(lengths) <= sizes.max():
        lengths.append(trails)
        natural = trails.problem[trails.wild >= UNUSED]
        number = np.bincount(natural, minlength=len(problems))
        total += number
        longest = np.where(number, number, longest)
        reach = np.where(number, len(lengths), reach)
        whole |= (number > 0) & (sizes == len(lengths)) & (sizes > 1)
        trails = _longer(union, trails)
    soon = _soon(lengths[1:], hands, draws)
    return Prospects(whole, reach, soon, np.log1p(total), np.log1p(longest))


def _single_squares(union: TableUnion, whole: Bits, state: int) -> WildTrails:
    squares = np.arange(union.size)
    problem = union.table
    held = (whole[problem] >> union.shift[squares]) & np.uint64(15) > 0
    at, wild = _branches(held, np.full(union.size, state == UNUSED))
    card = np.where(wild, np.uint64(0), ONE << union.shift[at])
    crossed = np.zeros((len(at), union.bit.shape[2]), dtype=np.uint64)
    used = np.where(wild, union.numbers[at], state)
    return WildTrails(problem[at], at, at, whole[problem[at]] - card, used, crossed)


def _branches(held: Flags, wild: Flags) -> tuple[Indices, Flags]:
    """Return the indices at which a card or the wild card is possible, in order, and which."""
    both = np.stack([held.ravel(), wild.ravel()], axis=1).ravel()
    at = np.flatnonzero(both)
    return at >> 1, (at & 1).astype(bool)


def _longer(union: TableUnion, trails: WildTrails) -> WildTrails:
    """Extend trails by one square."""
    beside = union.beside[trails.end]
    held = (trails.left[:, None] >> union.shift[beside]) & np.uint64(15) > 0
    free = (trails.wild == UNUSED)[:, None] & (beside < union.size)
    at, wild = _branches(held, free)
    rows, way = at >> 2, at & 3
    bits = union.bit[trails.end[rows], way]
    fresh = np.flatnonzero(~(bits & trails.crossed[rows]).any(axis=1))
    fresh = _limited(fresh, trails.problem[rows[fresh]])
    rows, way, bits, wild = rows[fresh], way[fresh], bits[fresh], wild[fresh]
    end = beside[rows, way]
    card = np.where(wild, np.uint64(0), ONE << union.shift[end])
    return WildTrails(
        trails.problem[rows],
        trails.start[rows],
        end,
        trails.left[rows] - card,
        np.where(wild, union.kind[end], trails.wild[rows]),
        trails.crossed[rows] | bits,
    )


def _limited(rows: Indices, problem: Indices) -> Indices:
    """Return evenly spread rows, at most MOST of each problem; rows are ordered by problem."""
    counts = np.bincount(problem)
    if counts.max(initial=0) <= MOST:
        return rows
    first = np.cumsum(counts) - counts
    rank = np.arange(len(rows)) - first[problem]
    total = counts[problem]
    kept = (rank * MOST) // total != ((rank - 1) * MOST) // total
    return np.asarray(rows[kept | (total <= MOST)])


def _soon(lengths: Sequence[WildTrails], hands: Bits, draws: Numbers | None) -> Numbers:
    """Return the probability to have a hand that one run plays after the next action."""
    firsts, seconds = [], []
    for trails in lengths:
        # A trail and its reverse are the same run.
        once = trails.start <= trails.end
        natural = trails.wild >= UNUSED
        firsts.append(trails.chosen(once & natural))
        seconds.append(trails.chosen(once & (natural if draws is None else ~natural)))
    if not firsts:
        return np.zeros(len(hands))
    natural_trails, second_trails = joined(firsts), joined(seconds)
    left = _keys(natural_trails.left, natural_trails.problem)
    used = _keys(hands[second_trails.problem] - second_trails.left, second_trails.problem)
    first, second = equal_pairs(left, used, PAIRS)
    apart = ~(natural_trails.crossed[first] & second_trails.crossed[second]).any(axis=1)
    if draws is None:
        return np.minimum(
            1.0, np.bincount(second_trails.problem[second[apart]], minlength=len(hands))
        )
    alone = np.flatnonzero(second_trails.left == 0)
    ended = np.concatenate([second[apart], alone])
    numbers = np.zeros((len(hands), NUMBERS), dtype=bool)
    numbers[second_trails.problem[ended], second_trails.wild[ended]] = True
    return np.asarray(numbers @ draws)


def joined(parts: Sequence[WildTrails]) -> WildTrails:
    """Return all trails of several lengths."""
    return WildTrails(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _keys(cards: Bits, problem: Indices) -> Bits:
    return cards << np.uint64(PROBLEM_BITS) | problem.astype(np.uint64)
