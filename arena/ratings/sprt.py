"""The sequential probability ratio test (SPRT) on the likelihoods of a duel.

Two hypotheses are compared: the difference is `low`, or it is `high`. The ratio of the likelihoods
of the results under both changes with each result until it crosses a bound. A hypothesis states
only the difference. Therefore the test uses the most likely distribution with this difference (a
generalized test). Its form is given in Michel Van den Bergh's "Comments on Normalized Elo",
propositions 1.1 and 4.1, which fishtest and fastchess use.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arena.ratings.duel import NORMALIZED, Duel
from arena.ratings.scale import expected_score
from referee.games.shared.coded_errors import InvalidValue

Model = Literal["logistic", "normalized"]
SprtResult = Literal["high", "low", "open"]

UNSEEN = 1e-3
"""The count of a result that never occurred, as in fastchess: its logarithm must be finite."""
CONVERGED = 1e-12
STEPS = 1000


@dataclass(frozen=True, slots=True)
class SprtSettings:
    """The parameters of the test, fixed in advance.

    Attributes:
        low: the difference of the first hypothesis in Elo points.
        high: the difference of the second hypothesis.
        alpha: probability to accept `high` if `low` is true.
        beta: probability to accept `low` if `high` is true.
        model: the scale of `low` and `high`: of the mean score ("logistic"), or in standard
            deviations of a game ("normalized"), which requires the same number of games for any
            share of draws.

    Raises:
        ValueError: `low` is not below `high`, a probability is not positive, alpha and beta add up
            to 1 or more, or the model is unknown.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "logistic"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InvalidValue(
                f"an SPRT needs low < high, not {self.low} and {self.high}", code="bounds"
            )
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise InvalidValue(
                "alpha and beta of an SPRT are positive and add up to less than 1, "
                f"not {self.alpha} and {self.beta}",
                code="error-rates",
            )
        if self.model not in ("logistic", "normalized"):
            raise InvalidValue(
                f"the model of an SPRT is logistic or normalized, not {self.model!r}", code="model"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Accept `low` at the first bound or below, `high` at the second or above (Wald 1945)."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def verdict(self, ratio: float) -> SprtResult:
        """Return the verdict of a log-likelihood ratio.

        The first verdict is final: evaluate it after each unit until it is not "open".
        """
        lower, upper = self.bounds
        if ratio >= upper:
            return "high"
        return "low" if ratio <= lower else "open"


def log_likelihood_ratio(test: SprtSettings, duel: Duel) -> float:
    """Return the logarithm of the likelihood under `high` divided by the likelihood under `low`."""
    counts = [count or UNSEEN for count in duel.counts]
    total = math.fsum(counts)
    seen = [count / total for count in counts]
    low, high = (_most_likely(test, duel, seen, claim) for claim in (test.low, test.high))
    return math.fsum(
        count * math.log(more / less) for count, more, less in zip(counts, high, low, strict=True)
    )


def _most_likely(test: SprtSettings, duel: Duel, seen: list[float], elo: float) -> list[float]:
    if test.model == "logistic":
        score = expected_score(elo)
        return _tilted(seen, [value - score for value in duel.scores])
    return _with_effect(seen, duel.scores, elo * math.sqrt(duel.games) / NORMALIZED)


def _with_effect(seen: list[float], scores: Sequence[float], effect: float) -> list[float]:
    """Return the most likely distribution with its mean `effect` standard deviations above 1/2.

    The constraint is not linear in the probabilities. Each iteration solves its linearization at
    the previous solution, until the solution no longer changes.
    """
    chances = [1 / len(seen)] * len(seen)
    for _ in range(STEPS):
        mean = math.fsum(map(math.prod, zip(chances, scores, strict=True)))
        spread = math.sqrt(
            math.fsum(p * (score - mean) ** 2 for p, score in zip(chances, scores, strict=True))
        )
        slopes = [
            score - 0.5 - effect * spread * (1 + ((score - mean) / spread) ** 2) / 2
            for score in scores
        ]
        before, chances = chances, _tilted(seen, slopes)
        if max(abs(a - b) for a, b in zip(before, chances, strict=True)) < CONVERGED:
            break
    return chances


def _tilted(seen: list[float], values: list[float]) -> list[float]:
    """Return the most likely distribution under which `values` have the mean 0.

    It is seen / (1 + theta * value) for the theta at which the mean is 0. Between the poles the
    mean decreases with theta, so theta is found by bisection.
    """
    low, high = -1 / max(values), -1 / min(values)
    while True:
        theta = (low + high) / 2
        if not low < theta < high:
            return [p / (1 + theta * value) for p, value in zip(seen, values, strict=True)]
        terms = (p * value / (1 + theta * value) for p, value in zip(seen, values, strict=True))
        if math.fsum(terms) > 0:
            low = theta
        else:
            high = theta
