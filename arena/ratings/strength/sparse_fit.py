"""The steps of the fit for large ladders: deviations of pairs, their weights, and strengths.

The steps are those of `arena.ratings.strength.misfit` and `arena.ratings.strength.fit`, on the
pairs that have met. Traces are estimated from samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.ratings.strength.meeting_arrays import Floats, MeetingArrays
from arena.ratings.strength.misfit import (
    MIN_INFORMATION,
    MIN_PRIOR_PRECISION,
    PairDeviations,
    PairResults,
    deviations_beyond_chance,
    weights_of,
)
from arena.ratings.strength.pair_graph import PairBlock, PairGraph, pair_squares
from arena.ratings.strength.settings import Weighting
from arena.ratings.strength.solver import Fit, LooseAnchors
from arena.ratings.strength.sparse_solver import (
    Bread,
    SparseScatter,
    WeightRule,
    absorbed,
    equal_weights,
    expected_scores,
    line_up_samples,
    most_plausible,
    pair_samples,
    priors,
    sampled_covariance,
    scatter_blocks,
)

_COEFFICIENT, _CHANCE = 1 << 20, 1 << 21
"""Streams of random signs that no sample of the covariance uses."""


def fit(
    table: MeetingArrays,
    graph: PairGraph,
    weighting: Weighting,
    precision: float,
    anchors: dict[int, float],
    loose: LooseAnchors,
    shares: Floats | None,
) -> tuple[Fit, PairDeviations | None]:
    """Return the fit, and the deviations of the pairs from a fit with equal weights.

    Args:
        table: the meetings.
        graph: the pairs of the table.
        weighting: the rule for the weights of pairs.
        precision: precision of the prior.
        anchors: fixed strengths by number.
        loose: further priors of single strengths.
        shares: weights of the mean that is shifted to 0; None: no shift.
    """
    least = max(precision, MIN_PRIOR_PRECISION)
    equal, _ = most_plausible(graph, equal_weights, priors(graph.size, least))
    deviations = pair_deviations(table, graph, least, equal)
    weights = _weights(graph, weighting, deviations, equal)
    held = priors(graph.size, precision, anchors, loose)
    near = equal if held.floating else None
    strength, spread = most_plausible(graph, weights, held, near)
    covariance = sampled_covariance(table, graph, weights, held, strength, spread)
    if shares is None:
        return Fit(strength, covariance), deviations
    return Fit(strength - shares @ strength, covariance.about_mean(shares)), deviations


def pair_deviations(
    table: MeetingArrays, graph: PairGraph, precision: float, equal: Floats
) -> PairDeviations | None:
    """Estimate how far the pairs deviate from the strengths, as `misfit.pair_deviations`.

    Args:
        table: the meetings.
        graph: the pairs of the table.
        precision: precision of the prior.
        equal: the strengths if all matches have equal weight.
    """
    selected = np.empty(len(graph), np.bool_)
    for block in graph.blocks():
        selected[block.at] = (_information(block, equal) >= MIN_INFORMATION) & (block.matches >= 2)
    chosen = graph.selection(selected)
    linked = graph.size - len(np.unique(chosen.labels()))
    freedom = len(chosen) - linked, int(np.sum(chosen.count - 1))
    if freedom[0] < 1:
        return None
    free = priors(graph.size, precision)
    strength, spread = most_plausible(chosen, equal_weights, free, equal)
    first, second = chosen.ends
    results = PairResults(
        np.column_stack((first, second)),
        chosen.count.astype(np.float64),
        chosen.score,
        pair_squares(table, graph)[selected],
        expected_scores(strength, first, second),
    )
    bread = Bread(chosen, spread, priors(graph.size, 0.0))

    def by_chance(scale: float) -> float:
        """Return the sum of squares expected by chance, as `misfit._by_chance`."""
        if all(block.seats == 2 for block in table.blocks):
            return scale * freedom[0]
        weights = _Selected(selected)
        blocks = scatter_blocks(table, graph, weights, strength)
        diagonal = SparseScatter.of(blocks, graph).diagonal
        blocks = scatter_blocks(table, graph, weights, strength)
        return scale * len(chosen) - absorbed(
            bread, diagonal, line_up_samples(blocks, graph.size, _CHANCE)
        )

    def variance_coefficient() -> float:
        """Return sum(w) - trace(inverse(curvature of w) @ (curvature of w ** 2))."""
        squared = spread.astype(np.float64) ** 2
        samples = pair_samples(chosen, squared, _COEFFICIENT)
        trace = absorbed(bread, chosen.sums(squared), samples)
        return float(np.sum(spread, dtype=np.float64)) - trace

    return deviations_beyond_chance(results, freedom, by_chance, variance_coefficient)


@dataclass(frozen=True, slots=True, eq=False)
class _Selected:
    """The weight 1 for selected pairs, and 0 for the others."""

    selected: NDArray[np.bool_]

    def __call__(self, block: PairBlock) -> Floats:
        return self.selected[block.at].astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _RandomEffects:
    """The weights of `misfit.pair_weights`."""

    deviations: PairDeviations
    equal: Floats
    median: float

    def __call__(self, block: PairBlock) -> Floats:
        return weights_of(_information(block, self.equal), self.median, self.deviations)


@dataclass(frozen=True, slots=True, eq=False)
class _AtMost:
    """Weights by which a pair counts for at most `enough` matches."""

    enough: float

    def __call__(self, block: PairBlock) -> Floats:
        return np.asarray(self.enough / np.maximum(block.matches, self.enough))


def _weights(
    graph: PairGraph, weighting: Weighting, deviations: PairDeviations | None, equal: Floats
) -> WeightRule:
    middle = (len(graph) - 1) // 2
    if weighting == "random-effects" and deviations is not None and deviations.variance:
        information = np.empty(len(graph))
        for block in graph.blocks():
            information[block.at] = _information(block, equal)
        median = float(np.partition(information, middle)[middle])
        return _RandomEffects(deviations, equal, median)
    if weighting == "pairs" and len(graph):
        return _AtMost(float(np.partition(graph.count, middle)[middle]))
    return equal_weights


def _information(block: PairBlock, strength: Floats) -> Floats:
    """Return the information of the matches of each pair, in single games."""
    expected = expected_scores(strength, block.first, block.second)
    return np.asarray(block.matches * expected * (1 - expected))
