"""The covariance of many strengths, without a matrix of everyone against everyone.

The sandwich inverse(bread) @ meat @ inverse(bread) of `arena.ratings.strength.solver` has an entry
for everyone against everyone. It is represented by random samples:

1. If g has the covariance `meat`, the solution x of bread @ x = g has that of the sandwich. g is a
   square root of each summand of `meat`, times random signs.
2. x = g / diagonal(bread) + r. The covariance of the first term is exact, so that only the
   remainder r has sampling errors. It is small if entrants have many opponents.

The signs are those of a fixed generator, so the same matches give the same digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from arena.ratings.line_ups import pairs
from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays, surplus_scatter
from arena.ratings.strength.pair_graph import ROWS_AT_ONCE, PairGraph, line_up_places
from arena.ratings.strength.solver import Priors, trusted_shares
from arena.ratings.strength.sparse_curvature import PairCurvature, upper_matrix

FEWEST_SAMPLES: Final = 128
MOST_SAMPLES: Final = 512
"""Limits of the number of samples of the covariance; multiples of 64."""
WORK: Final = 1 << 28
"""Between these limits, the number of samples times pairs is at most this."""
SAMPLE_EXACT: Final = 1e-4
"""Residual of the samples, relative to them; far below the sampling errors."""
TRACE_EXACT: Final = 1e-2
"""Residual of samples for a trace: errors of many samples and entrants cancel."""
_WORD: Final = 64

Singles = NDArray[np.float32]


class SignedSums:
    """Random samples with given covariances, as sums of square roots times random signs.

    Args:
        samples: number of samples, a multiple of 64.
        stream: number of the stream of signs.
    """

    def __init__(self, size: int, samples: int, stream: int) -> None:
        self.size, self.samples = size, samples
        self._bits = np.random.PCG64(stream)

    def signs(self, rows: int) -> Singles:
        """Return independent signs: (rows, samples)."""
        words = self._bits.random_raw(rows * self.samples // _WORD).astype("<u8")
        signs = np.unpackbits(words.view(np.uint8)).astype(np.float32)
        signs *= 2
        signs -= 1
        return signs.reshape(rows, self.samples)

    def drawn(self, entrants: NDArray[np.integer[Any]], roots: Floats) -> Singles:
        """Return samples of the sum of roots @ transpose(roots) over all rows: (size, samples).

        Args:
            entrants: (rows, seats).
            roots: factors of the covariance of the entrants of each row: (rows, seats, factors).
        """
        total = np.zeros((self.size, self.samples), np.float32)
        factors, seats = roots.shape[2], roots.shape[1]
        step = ROWS_AT_ONCE // (seats * factors)
        for begin in range(0, len(entrants), step):
            part = roots[begin : begin + step].transpose(0, 2, 1).astype(np.float32)
            rows = len(part) * factors
            columns = np.repeat(entrants[begin : begin + step], factors, axis=0).ravel()
            start = np.arange(0, rows * seats + 1, seats)
            added = csr_array((part.ravel(), columns, start), shape=(rows, self.size))
            total += added.T @ self.signs(rows)
        return total

    def of_pairs(self, graph: PairGraph, variances: Floats) -> Singles:
        """Return samples of the curvature with these values by pair: (size, samples)."""
        total = np.zeros((self.size, self.samples), np.float32)
        for begin in range(0, len(graph), ROWS_AT_ONCE):
            at = slice(begin, begin + ROWS_AT_ONCE)
            root = np.sqrt(variances[at])
            ends = np.column_stack((graph.first[at], graph.second[at]))
            total += self.drawn(ends, np.column_stack((root, -root))[:, :, None])
        return total


@dataclass(frozen=True, slots=True, eq=False)
class SampledScatter:
    """The scatter of the entrants' surpluses (`meeting_arrays.score_scatter`): a symmetric matrix.

    Attributes:
        diagonal: its diagonal: (size,).
        at_pairs: its entries at each pair: (pairs,).
        samples: samples with this covariance: (size, samples).
    """

    diagonal: Floats
    at_pairs: Floats
    samples: Singles


def sampled_scatter(
    table: MeetingArrays,
    graph: PairGraph,
    weights: Floats,
    expected: Floats,
    signs: SignedSums,
) -> SampledScatter:
    """Sum up the scatter of all line-ups.

    Args:
        weights: the weight of a match of each pair: (pairs,).
        expected: the expected score of each pair: (pairs,).
    """
    diagonal, at_pairs = np.zeros(graph.size), np.zeros(len(graph))
    samples = np.zeros((graph.size, signs.samples), np.float32)
    for block, rows, at in line_up_places(table, graph):
        entrants = block.entrants[rows]
        scatter = surplus_scatter(block, rows, expected[at], weights[at])
        of_entrants = np.diagonal(scatter, axis1=1, axis2=2)
        diagonal += np.bincount(entrants.ravel(), of_entrants.ravel(), graph.size)
        for place, (first, second) in enumerate(pairs(block.seats)):
            np.add.at(at_pairs, at[:, place], scatter[:, first, second])
        samples += signs.drawn(entrants, roots_of(scatter))
    return SampledScatter(diagonal, at_pairs, samples)


def roots_of(scatter: Floats) -> Floats:
    """Return factors L with L @ L' = each scatter matrix: (rows, seats, seats - 1).

    The surpluses of a line-up add up to 0, so the rank is less than the number of seats.
    Cholesky's algorithm; a pivot that is zero up to rounding leaves its column zero.
    """
    left, roots = scatter.copy(), np.zeros((*scatter.shape[:2], scatter.shape[2] - 1))
    least = 1e-12 * np.trace(scatter, axis1=1, axis2=2)
    for column in range(roots.shape[2]):
        pivot = left[:, column, column]
        root = np.sqrt(np.where(pivot > least, pivot, np.inf))
        roots[:, :, column] = left[:, :, column] / root[:, None]
        left -= roots[:, :, None, column] * roots[:, None, :, column]
    return roots


def absorbed(bread: PairCurvature, diagonal: Floats, samples: Singles) -> float:
    """Estimate the trace of inverse(bread) @ M from samples with the covariance M.

    The part of the diagonal of `bread` is exact, so that only the remainder is estimated.

    Args:
        diagonal: the diagonal of M.
        samples: the samples: (size, samples).
    """
    inverse = 1 / bread.diagonal
    rest = bread.solved(samples, TRACE_EXACT) - inverse.astype(np.float32)[:, None] * samples
    estimated = np.sum(samples * rest, dtype=np.float64) / samples.shape[1]
    return float(diagonal @ inverse) + float(estimated)


class SampledCovariance:
    """The covariance of strengths: one part is exact, the rest is estimated.

    A strength is the sum of a local term, with an exact covariance, and a remainder. The covariance
    of two entrants is that of their local terms, which is 0 for pairs that have not met, plus the
    mean over samples of the products that contain a remainder.

    Args:
        local: the covariance of the local terms, a sparse matrix.
        whole: samples of strengths, divided by the square root of their number: (size, samples).
        rest: the same samples of the remainders.
    """

    def __init__(self, local: Any, whole: Singles, rest: Singles) -> None:
        self._local, self._whole, self._rest = local, whole, rest
        # (local + rest)^2 without local^2, which is exact.
        estimated = np.einsum("ij,ij->i", rest, 2 * whole - rest, dtype=np.float64)
        self._sampled = np.einsum("ij,ij->i", whole, whole, dtype=np.float64)
        self._variances = np.maximum(local.diagonal() + estimated, self._sampled / 2)

    @property
    def size(self) -> int:
        return len(self._whole)

    @property
    def variances(self) -> Floats:
        return np.asarray(self._variances)

    def gap_variances(self, rows: slice) -> Floats:
        """Return the variances of the differences of some entrants to everyone.

        A sampling error may exceed the small variance of two strongly dependent entrants, so half
        the variance within the samples is the minimum.
        """
        whole, rest = self._whole[rows], self._rest[rows]
        both = self._local[rows].toarray()
        both += rest @ self._whole.T
        both += (whole - rest) @ self._rest.T
        variances = self._variances[rows, None] + self._variances
        variances -= 2 * both
        least = np.asarray(self._sampled[rows, None] + self._sampled)
        least -= 2 * (whole @ self._whole.T)
        np.maximum(variances, least / 2, out=variances)
        places = np.arange(self.size)[rows]
        variances[np.arange(len(places)), places] = 0.0
        return np.asarray(variances)

    def variance_of(self, shares: Floats) -> float:
        whole, rest = shares @ self._whole, shares @ self._rest
        local = float(shares @ (self._local @ shares))
        return max(local + float(rest @ (2 * whole - rest)), float(whole @ whole) / 2)

    def reordered(self, order: Ints) -> Self:
        return type(self)(self._local[order][:, order], self._whole[order], self._rest[order])

    def about_mean(self, shares: Floats) -> Self:
        """Return the covariance of the distances from the mean with these weights."""
        mean = (shares @ self._whole).astype(np.float32)
        return type(self)(self._local, self._whole - mean, self._rest - mean)


def sampled_covariance(
    table: MeetingArrays,
    graph: PairGraph,
    weights: Floats,
    held: Priors,
    expected: Floats,
) -> SampledCovariance:
    """Return the sandwich inverse(bread) @ meat @ inverse(bread) of `solver.fit`.

    Args:
        weights: the weight of a match of each pair: (pairs,).
        expected: the expected score of each pair: (pairs,).
    """
    worth = WORK // max(len(graph), 1) // _WORD * _WORD
    signs = SignedSums(graph.size, min(max(worth, FEWEST_SAMPLES), MOST_SAMPLES), stream=0)
    spread = weights * graph.count * expected * (1 - expected)
    bread = PairCurvature(graph, spread.astype(np.float32), held)
    diagonal, at_pairs, drawn = _meat(table, graph, weights, held, expected, spread, signs)
    inverse = np.where(held.free, 1 / bread.diagonal, 0.0)
    divided: Singles = inverse.astype(np.float32)[:, None] * drawn
    whole: Singles = bread.solved(drawn, SAMPLE_EXACT)
    del bread, drawn
    shared = (at_pairs * inverse[graph.first] * inverse[graph.second]).astype(np.float32)
    upper = upper_matrix(graph, shared)
    of_entrants = diags_array((diagonal * inverse**2).astype(np.float32))
    local = csr_array(upper + upper.T + of_entrants)
    rest: Singles = whole - divided
    whole /= np.float32(math.sqrt(signs.samples))
    rest /= np.float32(math.sqrt(signs.samples))
    return SampledCovariance(local, whole, rest)


def _meat(
    table: MeetingArrays,
    graph: PairGraph,
    weights: Floats,
    held: Priors,
    expected: Floats,
    spread: Floats,
    signs: SignedSums,
) -> tuple[Floats, Floats, Singles]:
    """Return the scatter of scores, mixed as in `solver.trusted_shares`, plus the prior.

    It is a matrix: its diagonal, its entries at pairs, and samples with this covariance. The prior
    of the mean adds a tiny covariance to all pairs, which is omitted.
    """
    corrected, own_share, common_share = trusted_shares(table)
    scatter = sampled_scatter(table, graph, weights, expected, signs)
    usual = weights * spread
    usual_diagonal = graph.sums(usual)
    observed = corrected * float(scatter.diagonal.sum())
    scale = (observed + 0.5) / (float(usual_diagonal.sum()) + 0.5)
    own, common = math.sqrt(corrected) * own_share, math.sqrt(scale) * common_share
    diagonal = own**2 * scatter.diagonal + common**2 * usual_diagonal + held.diagonal
    drawn = scatter.samples
    drawn *= own.astype(np.float32)[:, None]
    drawn += common.astype(np.float32)[:, None] * signs.of_pairs(graph, usual)
    # In place: these are arrays of all pairs.
    at_pairs = scatter.at_pairs
    for ends in (graph.first, graph.second):
        at_pairs *= own[ends]
        usual *= common[ends]
    at_pairs -= usual
    around = signs.signs(graph.size)
    drawn += np.float32(math.sqrt(held.precision)) * (around - around.mean(axis=0))
    if held.precisions.any():
        loose = np.sqrt(held.precisions).astype(np.float32)
        drawn += loose[:, None] * signs.signs(graph.size)
    return diagonal, at_pairs, drawn
