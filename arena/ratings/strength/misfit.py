"""Measure how far the results of pairs deviate from strengths: A beats B beats C beats A.

`pair_deviations` estimates the deviations, `pair_weights` the weights of pairs that follow from
them, and `lack_of_fit` tests whether one number for each entrant explains the results.

The mean scores of pairs are compared with the fit, relative to the variance of matches within a
pair ("pure error"): the F test for lack of fit of a regression. Results of one table are not
independent, which changes the expected sum of squares by a trace. Rao and Scott (1984) correct
chi-squared tests by the same trace.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from arena.ratings.scale import normal
from arena.ratings.strength.connectivity import components
from arena.ratings.strength.lack_of_fit import LackOfFit, Misfit
from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays, score_scatter
from arena.ratings.strength.solver import curvature, expected_scores, most_plausible

MIN_INFORMATION = 1.0
"""The minimum information of the matches of a used pair: four single games between equals."""
WORST_PAIR_COUNT = 5
"""Maximum number of pairs in `LackOfFit.worst`."""
RELATIVE_RIDGE = 1e-8
"""Ridge of `_absorbed_coefficient`, relative to the mean diagonal of the curvature."""
MIN_PRIOR_PRECISION = 1e-3
"""The minimum precision of the prior: the pairs that are used may not connect all entrants."""


@dataclass(frozen=True, slots=True, eq=False)
class PairDeviations:
    """The deviations of the pairs' results from a fit in which all matches have equal weight.

    Attributes:
        edges: the pairs with enough information, as numbers of entrants: (pairs, 2).
        count: number of matches of each of these pairs.
        score: sum of their mean scores, from the perspective of the first entrant.
        expected: the expected score of a match.
        scale: the variance of matches within a pair, relative to that of single games.
        chance: the sum of squared deviations expected by chance.
        freedom: degrees of freedom of the pairs, and of the matches within pairs.
        variance: the variance between pairs that chance does not explain, in squared natural units
            of strength; 0 if chance explains the deviations.
    """

    edges: Ints
    count: Floats
    score: Floats
    expected: Floats
    scale: float
    chance: float
    freedom: tuple[int, int]
    variance: float

    @property
    def residuals(self) -> Floats:
        """The deviations of the sums of scores."""
        return np.asarray(self.score - self.count * self.expected)

    @property
    def spread(self) -> Floats:
        """The variance of the score of a single game of each pair."""
        return np.asarray(self.expected * (1 - self.expected))

    @property
    def squares(self) -> float:
        """The sum of squared deviations, in units of single games."""
        return float(np.sum(self.residuals**2 / (self.count * self.spread)))


def pair_deviations(
    table: MeetingArrays, names: list[str], precision: float
) -> PairDeviations | None:
    """Estimate how far the pairs deviate from the strengths, beyond chance.

    1. Fit strengths to all pairs, and select the pairs with enough information (`MIN_INFORMATION`).
    2. Fit strengths to the selected pairs only.
    3. Compute the sum of squared deviations Q of the pairs, and the variance within pairs.
    4. Compute the expectation of Q under chance (`_by_chance`).
    5. Each squared deviation v between pairs, in natural units, adds v * (sum(w) - trace) to the
       expectation. Here w is the information of a pair, and the trace is the share that the fit
       absorbs. Solve for v: the estimate of DerSimonian and Laird (1986), for a network by Jackson,
       White and Riley (2012).

    Args:
        names: names of the entrants by number.

    Returns:
        The deviations; None if no pair has enough matches, or pairs do not outnumber strengths.
    """
    precision = max(precision, MIN_PRIOR_PRECISION)
    everywhere = np.ones((table.size, table.size))
    first = _expected(table, everywhere, precision)
    information = table.count * first * (1 - first)
    is_selected: Floats = np.where((information >= MIN_INFORMATION) & (table.count >= 2), 1.0, 0.0)
    edges = np.argwhere(np.triu(is_selected, 1))
    rows = edges[:, 0], edges[:, 1]
    named = [(names[a], names[b]) for a, b in edges]
    linked = sum(len(group) - 1 for group in components(names, named))
    freedom = len(edges) - linked, int(np.sum(table.count[rows] - 1))
    if freedom[0] < 1:
        return None
    expected = _expected(table, is_selected, precision)
    weight: Floats = is_selected * table.count * expected * (1 - expected)
    return deviations_beyond_chance(
        PairResults(
            edges, table.count[rows], table.score[rows], table.scatter[rows], expected[rows]
        ),
        freedom,
        lambda scale: _by_chance(table, is_selected, expected, scale, len(edges), linked),
        lambda: float(np.sum(weight)) / 2 - _absorbed_coefficient(weight),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PairResults:
    """The results of some pairs, from the perspective of the first entrant.

    Attributes:
        edges: the pairs, as numbers of entrants: (pairs, 2).
        count: numbers of matches.
        score: sums of mean scores.
        squares: sums of squared mean scores.
        expected: expected scores of a match.
    """

    edges: Ints
    count: Floats
    score: Floats
    squares: Floats
    expected: Floats


def deviations_beyond_chance(
    results: PairResults,
    freedom: tuple[int, int],
    by_chance: Callable[[float], float],
    variance_coefficient: Callable[[], float],
) -> PairDeviations | None:
    """Estimate the deviations: steps 3 to 5 of `pair_deviations`.

    Args:
        freedom: degrees of freedom of the pairs, and of the matches within pairs.
        by_chance: returns the expectation of Q under chance, given the variance within pairs.
        variance_coefficient: returns sum(w) - trace, the factor of v in the expectation of Q.
    """
    count, score, expected = results.count, results.score, results.expected
    within = results.squares - score**2 / count
    scale = float(np.sum(within / (expected * (1 - expected)))) / freedom[1]
    chance = by_chance(scale)
    if not chance > 0:
        return None
    deviations = PairDeviations(results.edges, count, score, expected, scale, chance, freedom, 0.0)
    unexplained = deviations.squares - chance
    if unexplained <= 0:
        return deviations
    coefficient = variance_coefficient()
    if coefficient <= 2e-9 * float(np.sum(count * deviations.spread)):
        return deviations
    return replace(deviations, variance=unexplained / coefficient)


def pair_weights(
    table: MeetingArrays, deviations: PairDeviations | None, precision: float
) -> Floats:
    """Return the weight of a match of each pair: (size, size), symmetric, at most 1.

    The mean result of a pair has the variance v + s / w around the difference in strength. Here v
    is the variance between pairs, s the variance of matches relative to single games, and w the
    information of the pair's matches in single games. The inverse of this variance, relative to w,
    is proportional to the weight of a match: 1 / (s + w v).

    All weights are divided by that of the pair with the median information, and limited to 1.
    Otherwise one match of a newcomer would count like several. If v is 0, all matches have equal
    weight. If v is large, no pair counts for more than the median pair.
    """
    if deviations is None or not deviations.variance:
        return np.ones((table.size, table.size))
    expected = _expected(
        table, np.ones((table.size, table.size)), max(precision, MIN_PRIOR_PRECISION)
    )
    information = table.count * expected * (1 - expected)
    informed = np.sort(information[np.triu(table.count, 1) > 0])
    median = informed[(len(informed) - 1) // 2]
    return weights_of(information, median, deviations)


def weights_of(information: Floats, median: float, deviations: PairDeviations) -> Floats:
    """Return the weights of pairs with this information; `median` is the median of all pairs."""
    v, s = deviations.variance, deviations.scale
    weights: Floats = (s + median * v) / (s + np.maximum(information, median) * v)
    return weights


def lack_of_fit(deviations: PairDeviations, names: list[str]) -> LackOfFit:
    """Test whether chance explains the deviations: divide Q by its expectation under chance."""
    ratio = deviations.squares / deviations.chance
    z = deviations.residuals / np.sqrt(deviations.count * deviations.spread * deviations.scale)
    far = np.round(np.abs(z), 6)
    # Only these can be shown. Sorting all of a million pairs would take seconds.
    least = (
        np.partition(far, -WORST_PAIR_COUNT)[-WORST_PAIR_COUNT]
        if len(far) > WORST_PAIR_COUNT
        else 0.0
    )
    named = {
        at: (names[deviations.edges[at, 0]], names[deviations.edges[at, 1]])
        for at in map(int, np.flatnonzero(~(far < least - 1e-6)))
    }
    worst = sorted(named, key=lambda at: (-abs(round(float(z[at]), 6)), named[at]))
    return LackOfFit(
        round(ratio, 6),
        deviations.freedom,
        round(f_tail(ratio, *deviations.freedom), 6),
        tuple(
            Misfit(
                *named[at],
                int(deviations.count[at]),
                round(float(deviations.score[at] / deviations.count[at]), 6),
                round(float(deviations.expected[at]), 6),
                round(float(z[at]), 6),
            )
            for at in worst[:WORST_PAIR_COUNT]
        ),
    )


def _expected(table: MeetingArrays, weights: Floats, precision: float) -> Floats:
    return expected_scores(
        most_plausible(weights * table.count, weights * table.score, precision, {})
    )


def _by_chance(
    table: MeetingArrays, weights: Floats, expected: Floats, scale: float, pairs: int, linked: int
) -> float:
    """Return the sum of squares expected by chance: of all pairs, minus the share the fit absorbs.

    The fit absorbs the trace of (inverse curvature) * (scatter of scores). If every match has two
    entrants, this is `scale` for each strength.
    """
    if all(block.seats == 2 for block in table.blocks):
        return scale * (pairs - linked)
    bend = curvature(weights * table.count * expected * (1 - expected))
    scatter = score_scatter(table, weights, expected)
    # A common shift of all strengths changes nothing, so `bend` is singular. NumPy's own
    # limit lies at the rounding error of that zero, which some processors would then invert.
    inverse = np.linalg.pinv(bend, rcond=1e-10, hermitian=True)
    taken = float(np.trace(inverse @ scatter))
    return scale * pairs - taken


def _absorbed_coefficient(weight: Floats) -> float:
    """Return the trace of inverse(curvature of weight) @ (curvature of squared weight).

    The curvature is singular in the directions that no pair connects. The other factor is zero
    there, so a small ridge replaces the pseudo-inverse, which takes ten times as long.
    """
    bend = curvature(weight)
    ridge = RELATIVE_RIDGE * float(np.trace(bend)) / len(bend)
    inverse = np.linalg.inv(bend + ridge * np.eye(len(bend)))
    return float(np.sum(inverse * curvature(weight**2)))


def f_tail(ratio: float, upper: int, lower: int) -> float:
    """Return the upper tail of the F distribution at `ratio`, by Paulson's formula (1942).

    The error is at most 0.01 from 3 lower degrees of freedom on.
    """
    if not math.isfinite(ratio):
        return 0.0
    root, a, b = ratio ** (1 / 3), 2 / (9 * upper), 2 / (9 * lower)
    return normal(-((1 - b) * root - (1 - a)) / math.sqrt(b * root**2 + a))
