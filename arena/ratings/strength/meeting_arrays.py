"""The table of meetings as numpy arrays; entrants are numbers from 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.ratings.line_ups import pairs, pairs_of_pairs
from arena.ratings.meetings import Meetings
from arena.ratings.packed_sums import LineUpBlock, blocks_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHUNK = 2_000
"""Number of line-ups processed at once, so that they fit into the processor's cache."""


@dataclass(frozen=True)
class MeetingArrays:
    """The table of meetings of `size` entrants, as blocks of line-ups of equal shape."""

    size: int
    blocks: tuple[LineUpBlock, ...]

    @cached_property
    def count(self) -> Floats:
        """The number of common matches of i and j: (size, size), symmetric."""
        total = np.zeros((self.size, self.size))
        for block in self.blocks:
            for first, second in pairs(block.seats):
                total += self._square(block, first, second, block.matches)
        return total + total.T

    @cached_property
    def score(self) -> Floats:
        """The sum of the mean scores of i against j: (size, size); `score + score.T == count`."""
        halves: dict[int, Floats] = {}
        for block in self.blocks:
            total = halves.setdefault(block.games, np.zeros((self.size, self.size)))
            for place, (first, second) in enumerate(pairs(block.seats)):
                scores = block.halves[:, place]
                total += self._square(block, first, second, scores)
                total += self._square(
                    block, second, first, 2 * block.games * block.matches - scores
                )
        sums = np.zeros((self.size, self.size))
        for games, total in sorted(halves.items()):
            sums += total / (2 * games)
        return sums

    @cached_property
    def scatter(self) -> Floats:
        """The sum over matches of the squared mean score of i against j, for i < j."""
        squares = np.zeros((self.size, self.size))
        for block in self.blocks:
            for place, (first, second) in enumerate(pairs(block.seats)):
                products = self._square(block, first, second, block.squares(place))
                squares += products / (2 * block.games) ** 2
        return squares

    @cached_property
    def matches(self) -> Floats:
        """The number of matches of each entrant: (size,)."""
        total = np.zeros(self.size)
        for block in self.blocks:
            for column in block.entrants.T:
                total += np.bincount(column, block.matches, self.size)
        return total

    def _square(
        self, block: LineUpBlock, first: int, second: int, values: NDArray[np.integer[Any]]
    ) -> Floats:
        # Integers below 2**53 are exact in floats, so the order of addition does not matter.
        at = block.entrants[:, first] * self.size + block.entrants[:, second]
        summed = np.bincount(at, values, self.size**2)
        return np.asarray(summed.reshape(self.size, self.size), dtype=np.float64)


def columns(meetings: Meetings, names: Sequence[str]) -> MeetingArrays:
    """Convert the table to arrays.

    Args:
        names: all entrants, sorted; the position of a name is the entrant's number.
    """
    return MeetingArrays(len(names), blocks_of(meetings.sums, names))


def score_scatter(table: MeetingArrays, weights: Floats, expected: Floats) -> Floats:
    """Return the scatter matrix of the entrants' surpluses, summed over matches: (size, size).

    The surplus of an entrant in a match is the sum over its opponents of (mean score - expected
    score) * weight. The matrix is the sum of the outer products of the surpluses of each match.
    This clusters the results by match, without an assumption on their dependence within a match.

    Args:
        weights: weights of the pairs: (size, size), symmetric.
        expected: the expected score of i against j: (size, size).
    """
    total = np.zeros(table.size**2)
    for block in table.blocks:
        for start in range(0, len(block.matches), CHUNK):
            rows = slice(start, start + CHUNK)
            at, values = _surplus_squares(block, rows, table.size, weights, expected)
            total += np.bincount(at, values, table.size**2)
    return total.reshape(table.size, table.size)


def _surplus_squares(
    block: LineUpBlock, rows: slice, size: int, weights: Floats, expected: Floats
) -> tuple[Ints, Floats]:
    """Return matrix indices and summands, for each row and each two of its entrants.

    Looks up expected scores and weights of the pairs of each row (`surplus_scatter`).
    """
    entrants, couples = block.entrants[rows], np.array(pairs(block.seats))
    first, second = entrants[:, couples[:, 0]], entrants[:, couples[:, 1]]
    shares = surplus_scatter(block, rows, expected[first, second], weights[first, second])
    at = entrants[:, :, None] * size + entrants[:, None, :]
    return at.ravel(), shares.ravel()


def surplus_scatter(block: LineUpBlock, rows: slice, expected: Floats, weights: Floats) -> Floats:
    """Return the scatter matrix of the surpluses of each line-up: (rows, seats, seats).

    `signs` maps pairs to entrants: +1 for the first entrant of a pair, -1 for the second. With one
    match for each line-up, the matrix is the product of surpluses. Otherwise it is computed from
    the summed products of pairs.

    Args:
        expected: the expected score of each pair: (rows, pairs).
        weights: the weight of a match of each pair: (rows, pairs).
    """
    couples = np.array(pairs(block.seats))
    scores = block.halves[rows] / (2 * block.games)
    signs = np.zeros((len(couples), block.seats))
    signs[np.arange(len(couples)), couples[:, 0]] = 1.0
    signs[np.arange(len(couples)), couples[:, 1]] = -1.0
    if block.once:
        surplus = ((scores - expected) * weights) @ signs
        return np.asarray(surplus[:, :, None] * surplus[:, None, :])
    squares = _pair_squares(block, rows, scores, expected, weights)
    return np.asarray(signs.T @ squares @ signs)


def _pair_squares(
    block: LineUpBlock, rows: slice, scores: Floats, hoped: Floats, weight: Floats
) -> Floats:
    """Return the weighted sum over matches of the products of two pairs' deviations.

    Two pairs have the scores s, t and the expected scores a, b. The sum of (s - a)(t - b) over n
    matches is computed from sums only: sum(s t) - b sum(s) - a sum(t) + n a b.
    """
    first, second = np.array(pairs_of_pairs(block.seats)).T
    squares = np.empty((*scores.shape, scores.shape[1]))
    squares[:, first, second] = block.products[rows] / (2 * block.games) ** 2
    squares[:, second, first] = squares[:, first, second]
    squares -= scores[:, :, None] * hoped[:, None, :] + hoped[:, :, None] * scores[:, None, :]
    squares += block.matches[rows, None, None] * hoped[:, :, None] * hoped[:, None, :]
    squares *= weight[:, :, None] * weight[:, None, :]
    return squares
