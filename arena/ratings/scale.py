"""The Elo scale and the normal distribution, for ratings and their errors."""

import math

ELO = 400.0 / math.log(10.0)
"""Elo points of one unit of strength, a factor of e in the odds; 400 points are ten to one."""

DECIMALS = 6
"""Decimals of published strengths, scores, points and intervals.

The rounding is far below their errors and above the rounding of the solver.
"""

Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution, for two-sided 95 % intervals."""


def expected_score(gap: float) -> float:
    """Return the expected mean score, 0 to 1, of an entrant that is `gap` Elo points stronger."""
    return 1.0 / (1.0 + 10.0 ** (-gap / 400.0)) if gap > -100_000 else 0.0


def gap_of(score: float) -> float:
    """Return the gap in Elo points with the expected score `score`; infinite for 0 and 1."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return -400.0 * math.log10(1.0 / score - 1.0)


def normal(z: float) -> float:
    """Return the share of the normal distribution below z standard deviations."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
