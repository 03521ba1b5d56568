"""The fit of large ladders, on the pairs that have met.

The model, the weights and the errors are those of `arena.ratings.strength.solver` and
`arena.ratings.strength.misfit`. A step of Newton's method is solved by conjugate gradients, whose
products take time proportional to the number of pairs. Errors and traces are estimated from samples
(`arena.ratings.strength.sampled_covariance`). It requires SciPy, the extra `large-ladders`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse.csgraph import connected_components

from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays
from arena.ratings.strength.misfit import (
    MIN_INFORMATION,
    MIN_PRIOR_PRECISION,
    PairDeviations,
    PairResults,
    deviations_beyond_chance,
    weights_of,
)
from arena.ratings.strength.pair_graph import PairGraph, pair_squares
from arena.ratings.strength.sampled_covariance import (
    SignedSums,
    absorbed,
    sampled_covariance,
    sampled_scatter,
)
from arena.ratings.strength.settings import Weighting
from arena.ratings.strength.solver import Fit, LooseAnchors, Priors, climbed, priors
from arena.ratings.strength.sparse_curvature import PairCurvature, upper_matrix

STEP_EXACT: Final = 1e-3
"""Residual of a Newton step, relative to the slope. Later steps correct what it omits."""
_TRACE_SAMPLES: Final = 64
_COEFFICIENT, _CHANCE = 1, 2
"""Streams of random signs; the covariance uses 0."""


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
        anchors: fixed strengths by number.
        shares: weights of the mean that is shifted to 0; None: no shift.
    """
    least = max(precision, MIN_PRIOR_PRECISION)
    equal = most_plausible(graph, np.ones(len(graph)), priors(graph.size, least))
    deviations = pair_deviations(table, graph, least, equal)
    weights = _weights(graph, weighting, deviations, equal)
    held = priors(graph.size, precision, anchors, loose)
    strength = most_plausible(graph, weights, held, equal if held.floating else None)
    covariance = sampled_covariance(table, graph, weights, held, expected_scores(graph, strength))
    if shares is None:
        return Fit(strength, covariance), deviations
    return Fit(strength - shares @ strength, covariance.about_mean(shares)), deviations


def labels(graph: PairGraph) -> Ints:
    """Return the least number of the connected component of each entrant: (size,)."""
    _, label = connected_components(upper_matrix(graph, graph.count), directed=False)
    return np.asarray(np.unique(label, return_index=True)[1][label])


def expected_scores(graph: PairGraph, strength: Floats) -> Floats:
    """Return the expected score of the first entrant of each pair against the second."""
    gaps = strength[graph.first] - strength[graph.second]
    return np.asarray(0.5 + 0.5 * np.tanh(gaps / 2))


def most_plausible(
    graph: PairGraph, weights: Floats, held: Priors, near: Floats | None = None
) -> Floats:
    """Return the strengths that maximize the posterior density, as `solver.most_plausible`.

    Args:
        weights: the weight of a match of each pair: (pairs,).
        near: strengths at which the iteration starts instead of at the start of the priors.
    """
    first, second = graph.first, graph.second
    count, score = weights * graph.count, weights * graph.score

    def height_at(strength: Floats) -> float:
        gaps = strength[first] - strength[second]
        lost = np.logaddexp(0.0, -gaps)
        height = -float(count @ lost) - float((count - score) @ gaps)
        height -= held.precision * float(strength @ (strength - strength.mean())) / 2
        return height - float(held.precisions @ (strength - held.means) ** 2) / 2

    def step_at(strength: Floats) -> tuple[Floats, Floats]:
        expected = expected_scores(graph, strength)
        surplus = score - count * expected
        slope: Floats = np.bincount(first, surplus, graph.size).astype(np.float64)
        slope -= np.bincount(second, surplus, graph.size)
        slope -= held.precision * (strength - strength.mean())
        slope -= held.precisions * (strength - held.means)
        slope[~held.free] = 0.0
        bend = PairCurvature(graph, count * expected * (1 - expected), held)
        return slope, bend.solved(slope[:, None], STEP_EXACT)[:, 0]

    most = float(np.max(graph.points[0], initial=0.0))
    return climbed(held.start if near is None else near, height_at, step_at, most)


def pair_deviations(
    table: MeetingArrays, graph: PairGraph, precision: float, equal: Floats
) -> PairDeviations | None:
    """Estimate how far the pairs deviate from the strengths, as `misfit.pair_deviations`.

    Args:
        equal: the strengths if all matches have equal weight.
    """
    selected = (_information(graph, equal) >= MIN_INFORMATION) & (graph.count >= 2)
    chosen = graph.selection(selected)
    linked = graph.size - len(np.unique(labels(chosen)))
    freedom = len(chosen) - linked, int(np.sum(chosen.count - 1))
    if freedom[0] < 1:
        return None
    free = priors(graph.size, precision)
    strength = most_plausible(chosen, np.ones(len(chosen)), free, equal)
    expected = expected_scores(chosen, strength)
    results = PairResults(
        np.column_stack((chosen.first, chosen.second)).astype(np.int64),
        chosen.count,
        chosen.score,
        pair_squares(table, graph)[selected],
        expected,
    )
    spread = chosen.count * expected * (1 - expected)
    bread = PairCurvature(chosen, spread.astype(np.float32), priors(graph.size, 0.0))

    def by_chance(scale: float) -> float:
        """Return the sum of squares expected by chance, as `misfit._by_chance`."""
        if all(block.seats == 2 for block in table.blocks):
            return scale * freedom[0]
        signs = SignedSums(graph.size, _TRACE_SAMPLES, _CHANCE)
        everywhere = expected_scores(graph, strength)
        scatter = sampled_scatter(table, graph, selected.astype(np.float64), everywhere, signs)
        return scale * len(chosen) - absorbed(bread, scatter.diagonal, scatter.samples)

    def variance_coefficient() -> float:
        """Return sum(w) - trace(inverse(curvature of w) @ (curvature of w ** 2))."""
        signs = SignedSums(graph.size, _TRACE_SAMPLES, _COEFFICIENT)
        samples = signs.of_pairs(chosen, spread**2)
        return float(np.sum(spread)) - absorbed(bread, chosen.sums(spread**2), samples)

    return deviations_beyond_chance(results, freedom, by_chance, variance_coefficient)


def _weights(
    graph: PairGraph, weighting: Weighting, deviations: PairDeviations | None, equal: Floats
) -> Floats:
    middle = (len(graph) - 1) // 2
    if weighting == "random-effects" and deviations is not None and deviations.variance:
        information = _information(graph, equal)
        median = float(np.partition(information, middle)[middle])
        return weights_of(information, median, deviations)
    if weighting == "pairs" and len(graph):
        enough = float(np.partition(graph.count, middle)[middle])
        return np.asarray(enough / np.maximum(graph.count, enough))
    return np.ones(len(graph))


def _information(graph: PairGraph, strength: Floats) -> Floats:
    """Return the information of the matches of each pair, in single games."""
    expected = expected_scores(graph, strength)
    return np.asarray(graph.count * expected * (1 - expected))
