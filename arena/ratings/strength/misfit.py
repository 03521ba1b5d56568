"""Test whether one number for each entrant explains the results, or A beats B beats C beats A.

The mean scores of pairs are compared with the fit, relative to the variance of matches within a
pair ("pure error"): the F test for lack of fit of a regression. Results of one table are not
independent, which changes the expected sum of squares by a trace. Rao and Scott (1984) correct
chi-squared tests by the same trace.
"""

import math
from dataclasses import dataclass

import numpy as np

from arena.ratings.scale import normal
from arena.ratings.strength.connectivity import components
from arena.ratings.strength.meeting_arrays import Floats, MeetingArrays, score_scatter
from arena.ratings.strength.solver import curvature, expected_scores, most_plausible

ENOUGH = 1.0
"""A pair is used if its matches have the information of four single games between equals."""
SHOWN = 5
FAINTEST = 1e-3
"""The minimum precision of the prior: the pairs that are used may not connect all entrants."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """A pair whose results deviate from the fit.

    Attributes:
        one: the first entrant.
        other: the second entrant.
        matches: number of their matches.
        score: mean score of `one` against `other`.
        expected: the score expected from their strengths.
        z: the deviation in standard errors.
    """

    one: str
    other: str
    matches: int
    score: float
    expected: float
    z: float


@dataclass(frozen=True, slots=True)
class LackOfFit:
    """The result of the test.

    Attributes:
        ratio: 1 if the deviations of the pairs have the size expected by chance; larger is worse.
        freedom: degrees of freedom of the pairs, and of the matches within pairs.
        likelihood: the p-value, the probability of this or a larger ratio by chance. Below 0.05
            strengths do not explain the results: consult the crosstable.
        worst: the pairs with the largest deviations.
    """

    ratio: float
    freedom: tuple[int, int]
    likelihood: float
    worst: tuple[Misfit, ...]

    def to_json(self) -> dict[str, object]:
        """Return it as plain values for JSON."""
        return {
            "ratio": self.ratio,
            "freedom": list(self.freedom),
            "p": self.likelihood,
            "worst": [
                {
                    "entrants": [pair.one, pair.other],
                    "matches": pair.matches,
                    "score": pair.score,
                    "expected": pair.expected,
                    "z": pair.z,
                }
                for pair in self.worst
            ],
        }


def lack_of_fit(table: MeetingArrays, names: list[str], precision: float) -> LackOfFit | None:
    """Test the fit in which all matches have equal weight.

    1. Fit strengths to all pairs, and select the pairs with enough information (`ENOUGH`).
    2. Fit strengths to the selected pairs only.
    3. Compute the sum of squared deviations of the pairs, and the variance within pairs (`scale`).
    4. Divide the sum by its expectation under chance (`_by_chance`), and compute the p-value.

    Args:
        table: the meetings.
        names: names of the entrants by number.
        precision: precision of the prior.

    Returns:
        The result; None if no pair has enough matches, or pairs do not outnumber strengths.
    """
    precision = max(precision, FAINTEST)
    everywhere = np.ones((table.size, table.size))
    first = _expected(table, everywhere, precision)
    information = table.count * first * (1 - first)
    looked_at: Floats = np.where((information >= ENOUGH) & (table.count >= 2), 1.0, 0.0)
    first_places, second = np.nonzero(np.triu(looked_at, 1))
    edges = [(names[a], names[b]) for a, b in zip(first_places, second, strict=True)]
    linked = sum(len(group) - 1 for group in components(names, edges))
    freedom = len(edges) - linked, int(np.sum(table.count[first_places, second] - 1))
    if freedom[0] < 1:
        return None
    expected = _expected(table, looked_at, precision)
    count, hoped = table.count[first_places, second], expected[first_places, second]
    spread = hoped * (1 - hoped)
    off = table.score[first_places, second] - count * hoped
    within = table.scatter[first_places, second] - table.score[first_places, second] ** 2 / count
    scale = float(np.sum(within / spread)) / freedom[1]
    chance = _by_chance(table, looked_at, expected, scale, len(edges), linked)
    if not chance > 0:
        return None
    ratio = float(np.sum(off**2 / (count * spread))) / chance
    z = off / np.sqrt(count * spread * scale)
    worst = sorted(range(len(edges)), key=lambda at: (-abs(round(float(z[at]), 6)), edges[at]))[
        :SHOWN
    ]
    return LackOfFit(
        round(ratio, 6),
        freedom,
        round(f_tail(ratio, *freedom), 6),
        tuple(
            Misfit(
                *edges[at],
                int(count[at]),
                round(float(table.score[first_places[at], second[at]] / count[at]), 6),
                round(float(hoped[at]), 6),
                round(float(z[at]), 6),
            )
            for at in worst
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
    taken = float(np.trace(np.linalg.pinv(bend, hermitian=True) @ scatter))
    return scale * pairs - taken


def f_tail(ratio: float, upper: int, lower: int) -> float:
    """Return the upper tail of the F distribution at `ratio`, by Paulson's formula (1942).

    The error is at most 0.01 from 3 lower degrees of freedom on.
    """
    if not math.isfinite(ratio):
        return 0.0
    root, a, b = ratio ** (1 / 3), 2 / (9 * upper), 2 / (9 * lower)
    return normal(-((1 - b) * root - (1 - a)) / math.sqrt(b * root**2 + a))
