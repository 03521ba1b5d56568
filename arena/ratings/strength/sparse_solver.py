"""Fit the strengths of large ladders, without arrays of everyone against everyone.

The model, the weights and the errors are those of `arena.ratings.strength.solver`. Only the methods
differ:

1. `most_plausible` uses Newton's method, and solves for each step by conjugate gradients. A product
   with the curvature takes time proportional to the number of pairs that have met.
2. The covariance inverse(bread) @ meat @ inverse(bread) has an entry for everyone against everyone.
   It is represented by random samples: if g has the covariance `meat`, the solution x of
   bread @ x = g has the covariance that the sandwich describes (`sampled_covariance`).
3. x = g / diagonal(bread) + r. The covariance of the first term is exact, so that only the
   remainder r has sampling errors. It is small if entrants have many opponents.

Random signs are hashes of the number of a pair, so the same matches give the same digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from arena.ratings.line_ups import pairs
from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays, surplus_scatter
from arena.ratings.strength.pair_graph import (
    PairBlock,
    PairGraph,
    Singles,
    SmallInts,
    chunks,
    places,
)
from arena.ratings.strength.solver import (
    CONVERGED,
    MAX_SLOPE,
    MAX_STEPS,
    WIDEST_STEP,
    LooseAnchors,
    trusted_shares,
)

FEWEST_SAMPLES: Final = 128
MOST_SAMPLES: Final = 512
"""Limits of the number of samples of the covariance; multiples of 64."""
WORK: Final = 1 << 28
"""Between these limits, the number of samples times pairs is at most this."""
STEP_EXACT: Final = 1e-3
"""Residual of a Newton step, relative to the slope. Later steps correct what it omits."""
SAMPLE_EXACT: Final = 1e-4
"""Residual of a sample, relative to the sample; far below the sampling errors."""
TRACE_EXACT: Final = 1e-2
"""Residual of a sample for a trace: errors of many samples and entrants cancel."""
MOST_PRODUCTS: Final = 3_000
"""Maximum number of products of one solution."""

_WORD: Final = 64
_ROWS_AT_ONCE: Final = 1 << 13
_ENTRIES_AT_ONCE: Final = 1 << 20
_MIN_LONG_ROW: Final = 16
"""Mean number of entries from which rows are multiplied one by one."""
_MIN_LONG_ROW_ONE_COLUMN: Final = 512
"""The same for a product with a single column."""
"""Mean number of entries from which rows are multiplied one by one: by several columns, by one."""
_GOLDEN: Final = 0x9E3779B97F4A7C15


class WeightRule(Protocol):
    """The weight of a match of each pair of a block."""

    def __call__(self, block: PairBlock) -> Floats: ...


def equal_weights(block: PairBlock) -> Floats:
    """Return 1 for each pair."""
    return np.ones(len(block.second))


@dataclass(frozen=True, slots=True, eq=False)
class _Slope:
    """The negative log posterior at some strengths: its value, gradient and curvature by pair."""

    height: float
    slope: Floats
    spread: Singles


@dataclass(frozen=True, slots=True, eq=False)
class Priors:
    """The priors of the strengths.

    Attributes:
        precision: precision of the common prior around the mean of all.
        free: whether each entrant is not an anchor.
        means: means of the loose anchors; 0 for all others.
        precisions: precisions of the loose anchors; 0 for all others.
        start: the strengths at which the iteration starts; those of anchors are fixed.
    """

    precision: float
    free: NDArray[np.bool_]
    means: Floats
    precisions: Floats
    start: Floats

    @property
    def floating(self) -> bool:
        """Whether only differences of strengths are determined. Then their mean is 0."""
        return bool(self.free.all()) and not self.precisions.any()


def priors(
    size: int,
    precision: float,
    anchors: Mapping[int, float] = MappingProxyType({}),
    loose: LooseAnchors = MappingProxyType({}),
) -> Priors:
    """Return the priors; the arguments are those of `solver.fit`."""
    free = np.ones(size, np.bool_)
    means, precisions, start = np.zeros(size), np.zeros(size), np.zeros(size)
    if anchors:
        start[:] = np.mean(list(anchors.values()))
    elif loose:
        start[:] = np.mean([value for value, _ in loose.values()])
    for place, value in anchors.items():
        start[place], free[place] = value, False
    for place, (mean, precision_of_anchor) in loose.items():
        means[place], precisions[place] = mean, precision_of_anchor
    return Priors(precision, free, means, precisions, start)


class Bread:
    """The curvature of the negative log posterior, as a matrix by which columns are multiplied.

    Args:
        graph: the pairs.
        spread: the curvature of each pair.
        priors: the priors.
    """

    def __init__(self, graph: PairGraph, spread: Singles, priors: Priors) -> None:
        self._rows, self._priors = graph.rows, priors
        self._spread = spread[self._rows.pair]
        of_priors = priors.precision * (1 - 1 / graph.size) + priors.precisions
        self.diagonal: Floats = graph.sums(spread) + of_priors
        # An entrant without matches and without a prior must not divide by zero.
        self.diagonal[self.diagonal <= 0] = 1.0
        # `times` subtracts the mean of everyone. This adds the part of the entrant itself again.
        self._added_diagonal = self.diagonal + priors.precision / graph.size

    def times(self, columns: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the product with one or more columns: (size,) or (size, columns)."""
        product = self._of_pairs(columns)
        diagonal = self._added_diagonal
        diagonal = diagonal if columns.ndim == 1 else diagonal[:, None]
        product = (diagonal * columns - product).astype(columns.dtype)
        product -= self._priors.precision * columns.mean(axis=0, dtype=np.float64).astype(
            columns.dtype
        )
        product[~self._priors.free] = 0.0
        return np.asarray(product)

    def _of_pairs(self, columns: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the product with the matrix of the curvature of pairs, without a diagonal.

        Long rows are multiplied one by one, which is faster; short rows together, because a step of
        a loop takes as long as some dozen entries.
        """
        start, opponent, _ = self._rows
        product = np.zeros_like(columns)
        long = _MIN_LONG_ROW_ONE_COLUMN if columns.ndim == 1 else _MIN_LONG_ROW
        if len(opponent) >= long * len(columns):
            for row in range(len(columns)):
                at = slice(start[row], start[row + 1])
                product[row] = self._spread[at] @ columns[opponent[at]]
            return product
        filled = np.flatnonzero(np.diff(start))
        step = max(_ENTRIES_AT_ONCE // (long * columns[:1].size), 1)
        for begin in range(0, len(filled), step):
            rows = filled[begin : begin + step]
            first = start[rows[0]]
            at = slice(first, start[rows[-1] + 1])
            entries = columns[opponent[at]]
            entries *= self._spread[at] if columns.ndim == 1 else self._spread[at, None]
            product[rows] = np.add.reduceat(entries, start[rows] - first, axis=0)
        return product

    def solved(self, columns: NDArray[np.floating], exact: float) -> NDArray[np.floating]:
        """Solve the linear systems with these right sides by conjugate gradients.

        Hestenes and Stiefel 1952, with a diagonal preconditioner, for all columns at once. The
        solution is 0 for anchors; without anchors its mean is 0.
        """
        left = self._projected(columns)
        inverse = (1 / self.diagonal).astype(columns.dtype)
        inverse = inverse if columns.ndim == 1 else inverse[:, None]
        solution = np.zeros_like(left)
        along = inverse * left
        before = np.sum(left * along, axis=0, dtype=np.float64)
        enough = exact**2 * before
        for _ in range(MOST_PRODUCTS):
            if np.all(before <= enough):
                break
            bent = self.times(along)
            curved = np.sum(along * bent, axis=0, dtype=np.float64)
            step = _share(before, curved).astype(columns.dtype)
            solution += step * along
            left -= step * bent
            scaled = inverse * left
            now = np.sum(left * scaled, axis=0, dtype=np.float64)
            along = scaled + _share(now, before).astype(columns.dtype) * along
            before = now
        return self._projected(solution)

    def _projected(self, columns: NDArray[np.floating]) -> NDArray[np.floating]:
        if self._priors.floating:
            means = columns.mean(axis=0, dtype=np.float64)
            return np.asarray((columns - means).astype(columns.dtype))
        free = self._priors.free
        return np.where(free if columns.ndim == 1 else free[:, None], columns, 0).astype(
            columns.dtype
        )


def _share(part: Floats | np.float64, whole: Floats | np.float64) -> Floats:
    """Return part / whole, and 0 where the whole is 0: that column is solved."""
    nothing = np.zeros(np.shape(part))
    return np.divide(part, whole, out=nothing, where=np.asarray(whole) > 0)


def most_plausible(
    graph: PairGraph,
    weights: WeightRule,
    priors: Priors,
    near: Floats | None = None,
) -> tuple[Floats, Singles]:
    """Return the strengths that maximize the posterior density, and the curvature of each pair.

    The iteration is that of `solver.most_plausible`. The linear systems are solved approximately,
    so each step reduces the error by a factor of about `STEP_EXACT`.

    Args:
        graph: the pairs.
        weights: the weight of a match of each pair.
        priors: the priors.
        near: strengths at which the iteration starts instead of at the start of the priors.

    Raises:
        ArithmeticError: the iteration did not converge within `MAX_STEPS`.
    """
    strength = priors.start.copy() if near is None else near.copy()
    now = _slope(graph, weights, priors, strength)
    max_slope = MAX_SLOPE * float(np.max(graph.points[0], initial=0.0))
    for _ in range(MAX_STEPS):
        step = Bread(graph, now.spread, priors).solved(now.slope, STEP_EXACT).astype(np.float64)
        size_of_step = float(np.max(np.abs(step), initial=0.0))
        step *= min(1.0, WIDEST_STEP / size_of_step) if size_of_step else 1.0
        slope = np.where(priors.free, now.slope, 0.0)
        if size_of_step < CONVERGED or float(np.max(np.abs(slope), initial=0.0)) <= max_slope:
            return strength + step, now.spread
        slack = 1e-12 * (1 + abs(now.height))
        for _ in range(MAX_STEPS):
            reached = _slope(graph, weights, priors, strength + step)
            if reached.height >= now.height - slack:
                break
            step = step / 2
        now, strength = reached, strength + step
    raise ArithmeticError("the fit of strengths did not converge")


def _slope(graph: PairGraph, weights: WeightRule, priors: Priors, strength: Floats) -> _Slope:
    size, height = graph.size, 0.0
    slope = np.zeros(size)
    spread = np.empty(len(graph), np.float32)
    for block in graph.blocks():
        weight = weights(block)
        gap = strength[block.first] - strength[block.second]
        odds = np.exp(-np.abs(gap))
        expected = np.where(gap >= 0, 1.0, odds) / (1 + odds)
        count, score = weight * block.matches, weight * block.score
        lost = np.log1p(odds)
        height -= float(score @ np.maximum(-gap, 0) + (count - score) @ np.maximum(gap, 0))
        height -= float(count @ lost)
        left = score - count * expected
        slope += np.bincount(block.first, left, size) - np.bincount(block.second, left, size)
        spread[block.at] = count * expected * (1 - expected)
    centred = strength - strength.mean()
    height -= priors.precision * float(strength @ centred) / 2
    height -= float(priors.precisions @ (strength - priors.means) ** 2) / 2
    slope -= priors.precision * centred
    slope -= priors.precisions * (strength - priors.means)
    return _Slope(height, slope, spread)


def expected_scores(strength: Floats, first: Ints, second: Ints) -> Floats:
    """Return the expected score of the first entrant of each pair against the second."""
    scores: Floats = 0.5 + 0.5 * np.tanh((strength[first] - strength[second]) / 2)
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class ScatterBlock:
    """The scatter of the entrants' surpluses (`meeting_arrays.score_scatter`) of some line-ups.

    Attributes:
        entrants: (rows, seats).
        pairs: positions of their pairs in the graph: (rows, pairs).
        scatter: for each row a positive semidefinite matrix: (rows, seats, seats).
        number: number of the first row among all line-ups.
    """

    entrants: Ints
    pairs: Ints
    scatter: Floats
    number: int


def scatter_blocks(
    table: MeetingArrays, graph: PairGraph, weights: WeightRule, strength: Floats
) -> Iterator[ScatterBlock]:
    """Yield the scatter of all line-ups.

    Args:
        table: the meetings.
        graph: its pairs.
        weights: the weight of a match of each pair.
        strength: the strengths from which expected scores follow.
    """
    number = 0
    for block in table.blocks:
        first, second = np.array(pairs(block.seats)).T
        for rows in chunks(block):
            at = places(graph, block, rows)
            entrants = block.entrants[rows].astype(np.int64)
            ends = entrants[:, first].ravel(), entrants[:, second].ravel()
            flat = at.ravel()
            line_ups = PairBlock(
                flat, *ends, graph.count[flat].astype(np.float64), graph.score[flat]
            )
            scatter = surplus_scatter(
                block,
                rows,
                expected_scores(strength, *ends).reshape(at.shape),
                weights(line_ups).reshape(at.shape),
            )
            yield ScatterBlock(entrants, at, scatter, number)
            number += len(entrants)


@dataclass(frozen=True, slots=True, eq=False)
class SparseScatter:
    """The scatter of surpluses, summed over line-ups: a symmetric matrix.

    Attributes:
        diagonal: its diagonal: (size,).
        at_pairs: its entries at each pair: (pairs,).
    """

    diagonal: Floats
    at_pairs: Floats

    @classmethod
    def of(cls, blocks: Iterable[ScatterBlock], graph: PairGraph) -> Self:
        """Sum up the scatter of line-ups."""
        diagonal, at_pairs = np.zeros(graph.size), np.zeros(len(graph))
        for block in blocks:
            for seat, entrants in enumerate(block.entrants.T):
                diagonal += np.bincount(entrants, block.scatter[:, seat, seat], graph.size)
            ends = enumerate(pairs(block.entrants.shape[1]))
            for place, (first, second) in ends:
                np.add.at(at_pairs, block.pairs[:, place], block.scatter[:, first, second])
        return cls(diagonal, at_pairs)


def pair_samples(graph: PairGraph, variances: Floats | Singles, stream: int) -> Singles:
    """Return 64 samples with the covariance sum of variances[i, j] * (e_i - e_j)(e_i - e_j)'.

    In each sample, each pair adds its standard deviation to one of its entrants, and subtracts it
    from the other one. A random sign decides which.

    Args:
        graph: the pairs.
        variances: (pairs,).
        stream: number of the stream of random signs.
    """
    start, opponent, pair = graph.rows
    deviations = np.maximum(variances, 0.0, dtype=np.float32, casting="same_kind")
    np.sqrt(deviations, out=deviations)
    samples = np.zeros((graph.size, _WORD), np.float32)
    for row in range(graph.size):
        at = slice(start[row], start[row + 1])
        signed = deviations[pair[at]]
        np.negative(signed, out=signed, where=opponent[at] < row)
        samples[row] = signed @ _signs(pair[at], stream)
    return samples


def line_up_samples(blocks: Iterable[ScatterBlock], size: int, stream: int) -> Singles:
    """Return 64 samples whose covariance is the scatter of line-ups of any number of seats."""
    samples = np.zeros((size, _WORD), np.float32)
    for block in blocks:
        rows, seats = block.entrants.shape
        roots = _roots(block.scatter).astype(np.float32)
        for begin in range(0, rows, _ROWS_AT_ONCE):
            at = slice(begin, begin + _ROWS_AT_ONCE)
            numbers = np.arange(block.number, block.number + rows)[at]
            signs = _signs((numbers[:, None] * seats + np.arange(seats)).ravel(), stream)
            added = (roots[at] @ signs.reshape(-1, seats, _WORD)).reshape(-1, _WORD)
            entrants = block.entrants[at].ravel()
            order = np.argsort(entrants, kind="stable")
            begins = np.flatnonzero(np.diff(entrants[order], prepend=-1))
            samples[entrants[order][begins]] += np.add.reduceat(added[order], begins)
    return samples


def entrant_samples(size: int, stream: int) -> Singles:
    """Return 64 samples of independent signs: (size, 64)."""
    return _signs(np.arange(size), stream)


def _roots(matrices: Floats) -> Floats:
    """Return lower triangular matrices L with L @ L' = each positive semidefinite matrix.

    Cholesky's algorithm; a pivot that is zero up to rounding leaves its column zero.
    """
    left, roots = matrices.copy(), np.zeros_like(matrices)
    least = 1e-12 * np.trace(matrices, axis1=1, axis2=2)
    for column in range(matrices.shape[1]):
        pivot = left[:, column, column]
        root = np.sqrt(np.where(pivot > least, pivot, np.inf))
        roots[:, :, column] = left[:, :, column] / root[:, None]
        roots[:, :column, column] = 0.0
        left -= roots[:, :, None, column] * roots[:, None, :, column]
    return roots


def _signs(numbers: Ints | SmallInts, stream: int) -> Singles:
    """Return 64 random signs for each number: (numbers, 64).

    The bits of a number's hash, by the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
    """
    mixed = numbers.astype(np.uint64)
    mixed += np.uint64(((stream + 1) * _GOLDEN) % 2**64)
    mixed *= np.uint64(_GOLDEN)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    octets = mixed.astype("<u8").view(np.uint8).reshape(-1, 8)
    signs = np.unpackbits(octets, axis=1).astype(np.float32)
    signs *= 2
    signs -= 1
    return signs


def absorbed(bread: Bread, diagonal: Floats, samples: Singles) -> float:
    """Estimate the trace of inverse(bread) @ M from samples with the covariance M.

    The part of the diagonal of `bread` is exact, so that only the remainder is estimated.

    Args:
        bread: the matrix.
        diagonal: the diagonal of M.
        samples: the samples: (size, samples).
    """
    inverse = 1 / bread.diagonal
    rest = bread.solved(samples, TRACE_EXACT) - inverse.astype(np.float32)[:, None] * samples
    estimated = np.sum(samples * rest, dtype=np.float64) / samples.shape[1]
    return float(diagonal @ inverse) + float(estimated)


@dataclass(frozen=True, slots=True, eq=False)
class LocalCovariance:
    """The covariance of local terms: a symmetric matrix with entries for pairs that have met.

    Attributes:
        diagonal: its diagonal: (size,).
        start: position of the first entry of each row: (size + 1,).
        opponent: the column of each entry: (2 * pairs,).
        shared: the entries: (2 * pairs,).
    """

    diagonal: Floats
    start: Ints
    opponent: SmallInts
    shared: Singles

    def row(self, number: int) -> tuple[SmallInts, Singles]:
        """Return the columns and entries of a row, without the diagonal."""
        at = slice(self.start[number], self.start[number + 1])
        return self.opponent[at], self.shared[at]

    def between(self, first: int, second: int) -> float:
        """Return the covariance of two different entrants."""
        opponents, shared = self.row(first)
        at = int(np.searchsorted(opponents, second))
        return float(shared[at]) if at < len(opponents) and opponents[at] == second else 0.0


class SampledCovariance:
    """The covariance of strengths: one part is exact, the rest is estimated.

    A strength is the sum of a local term, with an exact covariance, and a remainder. The covariance
    of two entrants is that of their local terms, which is 0 for pairs that have not met, plus the
    mean over samples of the products that contain a remainder.

    Args:
        local: the covariance of the local terms, by number of the entrants.
        whole: samples of strengths, divided by the square root of their number: (size, samples).
        rest: the same samples of the remainders.
        order: numbers of the entrants by place, in which `whole` and `rest` are sorted.
    """

    def __init__(
        self, local: LocalCovariance, whole: Singles, rest: Singles, order: Ints | None = None
    ) -> None:
        self._local, self._whole, self._rest = local, whole, rest
        self._order = np.arange(len(whole)) if order is None else order
        self._place = np.empty_like(self._order)
        self._place[self._order] = np.arange(len(whole))
        # (local + rest)^2 without local^2, which is exact.
        estimated = np.einsum("ij,ij->i", rest, 2 * whole - rest, dtype=np.float64)
        self._sampled = np.einsum("ij,ij->i", whole, whole, dtype=np.float64)
        self._variances = np.maximum(local.diagonal[self._order] + estimated, self._sampled / 2)

    @property
    def size(self) -> int:
        """The number of entrants."""
        return len(self._whole)

    def parts(self) -> tuple[NDArray[Any], ...]:
        """Return the fields of `local`, `whole`, `rest` and `order`."""
        local = self._local
        shared = local.diagonal, local.start, local.opponent, local.shared
        return *shared, self._whole, self._rest, self._order

    @property
    def variances(self) -> Floats:
        """The variance of each entrant."""
        return np.asarray(self._variances)

    def gap_variances(self, rows: slice) -> Floats:
        """Return the variances of the differences of some entrants to everyone.

        A sampling error may exceed the small variance of two strongly dependent entrants, so half
        the variance within the samples is the minimum.
        """
        whole, rest = self._whole[rows], self._rest[rows]
        both = rest @ self._whole.T
        both += (whole - rest) @ self._rest.T
        for row, number in enumerate(self._order[rows]):
            opponents, shared = self._local.row(int(number))
            both[row, self._place[opponents]] += shared
        variances = self._variances[rows, None] + self._variances
        variances -= 2 * both
        least = np.asarray(self._sampled[rows, None] + self._sampled)
        least -= 2 * (whole @ self._whole.T)
        np.maximum(variances, least / 2, out=variances)
        places = np.arange(self.size)[rows]
        variances[np.arange(len(places)), places] = 0.0
        return np.asarray(variances)

    def gap_variance(self, first: int, second: int) -> float:
        """Return the variance of the difference of two entrants."""
        if first == second:
            return 0.0
        whole, rest = self._whole, self._rest
        both = rest[first] @ whole[second] + (whole[first] - rest[first]) @ rest[second]
        both += self._local.between(int(self._order[first]), int(self._order[second]))
        least = np.sum(np.square(whole[first] - whole[second]))
        variance = self._variances[first] + self._variances[second] - 2 * both
        return float(max(variance, least / 2))

    def variance_of(self, shares: Floats) -> float:
        """Return the variance of the sum of strengths with these factors."""
        whole, rest = shares @ self._whole, shares @ self._rest
        by_number = np.empty_like(shares)
        by_number[self._order] = shares
        local = float(np.square(by_number) @ self._local.diagonal)
        for number in map(int, np.flatnonzero(by_number)):
            opponents, shared = self._local.row(number)
            local += float(by_number[number] * (by_number[opponents] @ shared))
        return max(local + float(rest @ (2 * whole - rest)), float(whole @ whole) / 2)

    def reordered(self, order: Ints) -> Self:
        """Return the same covariance with the entrants in another order."""
        return type(self)(self._local, self._whole[order], self._rest[order], self._order[order])

    def about_mean(self, shares: Floats) -> Self:
        """Return the covariance of the distances from the mean with these weights."""
        mean = (shares @ self._whole).astype(np.float32)
        return type(self)(self._local, self._whole - mean, self._rest - mean, self._order)


class _Meat:
    """The scatter of scores, mixed as in `solver.trusted_shares`, plus the prior: a matrix.

    Args:
        table: the meetings.
        graph: its pairs.
        weights: the weight of a match of each pair.
        priors: the priors.
        strength: the strengths from which expected scores follow.
        spread: the curvature of each pair.
    """

    def __init__(
        self,
        table: MeetingArrays,
        graph: PairGraph,
        weights: WeightRule,
        priors: Priors,
        strength: Floats,
        spread: Singles,
    ) -> None:
        self._graph, self._priors = graph, priors
        self._blocks = partial(scatter_blocks, table, graph, weights, strength)
        self._of_two = all(block.seats == 2 for block in table.blocks)
        corrected, own_share, common_share = trusted_shares(table)
        scatter = SparseScatter.of(self._blocks(), graph)
        usual = np.empty(len(graph), np.float32)
        for block in graph.blocks():
            usual[block.at] = weights(block) * spread[block.at]
        usual_diagonal = graph.sums(usual)
        observed = corrected * float(scatter.diagonal.sum())
        scale = (observed + 0.5) / (float(usual_diagonal.sum()) + 0.5)
        self._own_share, self._common_share = math.sqrt(corrected) * own_share, common_share
        self._diagonal = self._own_share**2 * scatter.diagonal
        self._diagonal += scale * common_share**2 * usual_diagonal
        self._diagonal += priors.precision * (1 - 1 / graph.size) + priors.precisions
        self._scatter = scatter.at_pairs.astype(np.float32)
        self._usual = usual
        self._usual *= np.float32(scale)

    def divided(self, inverse: Floats) -> LocalCovariance:
        """Return its entries times the factors of both entrants.

        The prior of the mean adds a tiny covariance to all pairs, which is omitted.
        """
        left, right = inverse * self._own_share, inverse * self._common_share
        shared = np.empty(len(self._graph), np.float32)
        for block in self._graph.blocks():
            first, second, at = block.first, block.second, block.at
            shared[at] = (
                left[first] * left[second] * self._scatter[at]
                - right[first] * right[second] * self._usual[at]
            )
        start, opponent, pair = self._graph.rows
        return LocalCovariance(self._diagonal * inverse**2, start, opponent, shared[pair])

    def samples(self, number: int) -> Singles:
        """Return 64 samples with this covariance; different numbers are independent."""
        size, stream = self._graph.size, 4 * number
        if self._of_two:
            drawn = pair_samples(self._graph, -self._scatter, stream)
        else:
            drawn = line_up_samples(self._blocks(), size, stream)
        drawn *= self._own_share.astype(np.float32)[:, None]
        usual = pair_samples(self._graph, self._usual, stream + 1)
        drawn += self._common_share.astype(np.float32)[:, None] * usual
        around = entrant_samples(size, stream + 2)
        drawn += math.sqrt(self._priors.precision) * (around - around.mean(axis=0))
        if self._priors.precisions.any():
            loose = np.sqrt(self._priors.precisions).astype(np.float32)
            drawn += loose[:, None] * entrant_samples(size, stream + 3)
        return drawn


def sampled_covariance(
    table: MeetingArrays,
    graph: PairGraph,
    weights: WeightRule,
    priors: Priors,
    strength: Floats,
    spread: Singles,
) -> SampledCovariance:
    """Return the sandwich inverse(bread) @ meat @ inverse(bread) of `solver.fit`.

    1. Compute the covariance of the local terms: meat / (diagonal of bread, for each factor).
    2. Draw samples with the covariance `meat`, 64 at a time: the square root of each summand of
       `meat`, times random signs.
    3. Solve `bread @ x = sample`, and subtract the local term: the remainder.
    """
    worth = WORK // max(len(graph), 1) // _WORD * _WORD
    samples = min(max(worth, FEWEST_SAMPLES), MOST_SAMPLES)
    meat = _Meat(table, graph, weights, priors, strength, spread)
    bread = Bread(graph, spread, priors)
    inverse = np.where(priors.free, 1 / bread.diagonal, 0.0)
    whole = np.empty((graph.size, samples), np.float32)
    rest = np.empty((graph.size, samples), np.float32)
    for number in range(samples // _WORD):
        drawn = meat.samples(number)
        at = slice(_WORD * number, _WORD * (number + 1))
        whole[:, at] = bread.solved(drawn, SAMPLE_EXACT)
        rest[:, at] = whole[:, at] - inverse.astype(np.float32)[:, None] * drawn
    # Each of them has arrays of all pairs.
    del bread, drawn
    local = meat.divided(inverse)
    whole /= np.float32(math.sqrt(samples))
    rest /= np.float32(math.sqrt(samples))
    return SampledCovariance(local, whole, rest)
