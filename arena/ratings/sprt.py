"""Is version B better than A: the sequential probability ratio test, on likelihoods of a duel.

Two claims stand against each other: the difference is `low`, or it is `high`. The ratio of the
likelihoods of what was played under each of them grows or falls until it crosses a bound. Which of
all distributions with the claimed difference is meant: the most likely one for what was played
(a generalized test). Its form is given in Michel Van den Bergh's "Comments on Normalized Elo",
propositions 1.1 and 4.1, which fishtest and fastchess use.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arena.ratings.duel import NORMALIZED, Duel
from arena.ratings.scale import expected_score

Model = Literal["logistic", "normalized"]
Verdict = Literal["high", "low", "open"]

UNSEEN = 1e-3
"""A result that never occurred counts as so many, as fastchess has it: its logarithm is needed."""
CONVERGED = 1e-12
STEPS = 1000


@dataclass(frozen=True, slots=True)
class Sprt:
    """The test, set beforehand.

    low, high: the two claimed differences in Elo points, by `model`: of the mean score (logistic),
        or in standard deviations of a game (normalized), which asks for as many games whatever
        the share of draws.
    alpha: how often the test may say `high` though `low` is true. beta: the other way round.

    Raises ValueError if low is not below high, or alpha and beta leave nothing to decide.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "logistic"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"an SPRT needs low < high, not {self.low} and {self.high}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(
                "alpha and beta of an SPRT are positive and add up to less than 1, "
                f"not {self.alpha} and {self.beta}"
            )
        if self.model not in ("logistic", "normalized"):
            raise ValueError(f"the model of an SPRT is logistic or normalized, not {self.model!r}")

    @property
    def bounds(self) -> tuple[float, float]:
        """At the first or below, `low` is accepted; at the second or above, `high` (Wald 1945)."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def verdict(self, ratio: float) -> Verdict:
        """What a log-likelihood ratio says. It is sticky: ask after each unit until it speaks."""
        lower, upper = self.bounds
        if ratio >= upper:
            return "high"
        return "low" if ratio <= lower else "open"


def log_likelihood_ratio(test: Sprt, duel: Duel) -> float:
    """How much likelier what was played is if the difference is `high` than if it is `low`."""
    counts = [count or UNSEEN for count in duel.counts]
    total = math.fsum(counts)
    seen = [count / total for count in counts]
    low, high = (_most_likely(test, duel, seen, claim) for claim in (test.low, test.high))
    return math.fsum(
        count * math.log(more / less) for count, more, less in zip(counts, high, low, strict=True)
    )


def _most_likely(test: Sprt, duel: Duel, seen: list[float], elo: float) -> list[float]:
    if test.model == "logistic":
        score = expected_score(elo)
        return _tilted(seen, [value - score for value in duel.scores])
    return _with_effect(seen, duel.scores, elo * math.sqrt(duel.games) / NORMALIZED)


def _with_effect(seen: list[float], scores: Sequence[float], effect: float) -> list[float]:
    """The likeliest distribution whose mean is `effect` standard deviations above one half.

    The condition is not linear in the probabilities, so it is solved again and again with its
    derivative at the last solution until nothing changes.
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
    """The likeliest distribution under which `values` have the mean 0, given what was seen.

    It is seen / (1 + theta * value) for the theta that makes the mean 0; between the poles that
    mean falls as theta grows, so it is found by halving.
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
