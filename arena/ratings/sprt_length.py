"""Length of an SPRT, its probability of passing, and the difference after it stopped.

The log-likelihood ratio is approximated by a Brownian motion between the two bounds. For a unit
with the variance v and the true score s, it has the drift (s - (s0 + s1) / 2) (s1 - s0) / v and the
variance (s1 - s0)^2 / v for each unit, where s0 and s1 are the scores under `low` and `high`
(Michel Van den Bergh, "A practical introduction to the GSPRT", which fishtest uses too).

The mean result after a stop is biased: a test stops early after lucky results. Outcomes of a test
can be ordered: earlier rejections are worse, earlier acceptances are better. The estimate is the
difference at which a worse outcome has a probability of one half, and the interval has those of
97.5 and 2.5 % (D. Siegmund, "Estimation following sequential tests", Biometrika 65, 1978).

A ratio changes in steps, so it exceeds its bound when a test stops. A Brownian motion behaves like
it if its bounds are farther apart, on each side by the mean excess: 0.583 standard deviations of a
step (D. Siegmund, "Corrected diffusion approximations in certain random walk problems", Advances in
Applied Probability 11, 1979). The estimate after a stop uses these bounds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from arena.ratings.duel import NORMALIZED, Duel, Interval
from arena.ratings.scale import expected_score, gap_of, normal
from arena.ratings.sprt import UNSEEN, SprtSettings, log_likelihood_ratio
from referee.games.shared.coded_errors import InvalidValue

_NEGLIGIBLE: Final = 1e-13
_FARTHEST: Final = 4000.0
"""The limit of estimates in Elo points; beyond it an end of an interval is infinite."""
_STEP: Final = 0.25
"""The search for an estimate starts with steps of this share of `high` - `low`."""
_BISECTIONS: Final = 60
_EXCESS: Final = 0.583
"""The mean excess over a bound, in standard deviations of a step."""


@dataclass(frozen=True, slots=True)
class SprtUnit:
    """The unit of a test: a game, a mirrored board, or a match.

    Attributes:
        variance: the variance of its mean score.

    Raises:
        ValueError: the variance is not positive, or it has no game.
    """

    variance: float
    games: int = 2

    def __post_init__(self) -> None:
        if not (math.isfinite(self.variance) and self.variance > 0 and self.games >= 1):
            raise InvalidValue(
                f"a unit of an SPRT has games and a positive variance, not {self.variance}",
                code="variance",
            )


def mirrored_board(draws: float, factor: float = 1.0) -> SprtUnit:
    """Return the unit of a board in both seatings.

    Args:
        draws: the share of drawn games, from 0 to below 1.
        factor: how many times more games the same precision takes without mirrored boards.
    """
    return SprtUnit((1 - draws) / 4 / 2 / factor, 2)


@dataclass(frozen=True, slots=True)
class SprtLength:
    """What to expect of a test at a true difference.

    Attributes:
        elo: the true difference in Elo points.
        normalized: the same in points of normalized Elo.
        upper_probability: the probability of the verdict `high`.
        units: the expected number of units until the verdict.
    """

    elo: float
    normalized: float
    upper_probability: float
    units: float


def length(test: SprtSettings, unit: SprtUnit, elo: float) -> SprtLength:
    """Return the expected length of a test, and its probability of passing (Wald 1945).

    Args:
        elo: the true difference in Elo points, whatever the model of the test.
    """
    low, high = _scores(test, unit)
    score = expected_score(elo)
    normalized = (score - 0.5) / math.sqrt(unit.games * unit.variance) * NORMALIZED
    walk = _walk(test, low, high, score, unit.variance)
    return SprtLength(elo, normalized, walk.upper_probability, walk.duration)


def elo_of(test: SprtSettings, unit: SprtUnit, difference: float) -> float:
    """Convert a difference in the unit of the test's bounds to Elo points."""
    return gap_of(_score(test, unit, difference))


def stopped(test: SprtSettings, duel: Duel, excess: float = _EXCESS) -> Interval:
    """Return the difference in Elo points after a test, corrected for its stopping rule.

    Args:
        duel: all results up to the verdict, or up to now if the test is open.
        excess: mean excess of the ratio over a bound, in standard deviations of a step; 0: the
            Brownian motion without this correction, as in fishtest.
    """
    counts = [count or UNSEEN for count in duel.counts]
    units = math.fsum(counts)
    shares = [count / units for count in counts]
    mean = math.fsum(share * score for share, score in zip(shares, duel.scores, strict=True))
    variance = math.fsum(
        share * (score - mean) ** 2 for share, score in zip(shares, duel.scores, strict=True)
    )
    low, high = _scores(test, SprtUnit(variance, duel.games))
    ratio, time = units * _walk(test, low, high, mean, variance).drift, units
    verdict = test.verdict(log_likelihood_ratio(test, duel)) if excess else "open"
    bound = min(max(ratio, test.bounds[0]), test.bounds[1])
    if verdict == "open" and bound != ratio:
        # Without the correction, the test stopped when the ratio was at the bound.
        time *= bound / ratio

    def worse(elo: float) -> float:
        score = expected_score(elo)
        spread = variance + (score - mean) ** 2
        walk = _walk(test, low, high, score, spread).widened(excess)
        ends = {"high": walk.upper, "low": walk.lower, "open": bound}
        return walk.worse_than(time, ends[verdict])

    start, step = gap_of(mean), _STEP * (gap_of(high) - gap_of(low))
    return Interval(*(_crossing(worse, level, start, step) for level in (0.5, 0.975, 0.025)))


def _crossing(worse: Callable[[float], float], level: float, start: float, step: float) -> float:
    """Return the difference next to `start` at which `worse` is `level`; it decreases there."""
    upwards = worse(start) > level
    inside = outside = start
    while (worse(outside) > level) == upwards:
        if abs(outside) >= _FARTHEST:
            return math.inf if upwards else -math.inf
        inside, outside = outside, outside + (step if upwards else -step)
        step *= 1.2
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        if (worse(middle) > level) == upwards:
            inside = middle
        else:
            outside = middle
    return (inside + outside) / 2


def _score(test: SprtSettings, unit: SprtUnit, difference: float) -> float:
    if test.model == "logistic":
        return expected_score(difference)
    return 0.5 + difference / NORMALIZED * math.sqrt(unit.games * unit.variance)


def _scores(test: SprtSettings, unit: SprtUnit) -> tuple[float, float]:
    return _score(test, unit, test.low), _score(test, unit, test.high)


def _walk(
    test: SprtSettings, low: float, high: float, score: float, variance: float
) -> "_BoundedWalk":
    step = high - low
    return _BoundedWalk(
        *test.bounds, (score - (low + high) / 2) * step / variance, step**2 / variance
    )


@dataclass(frozen=True, slots=True)
class _BoundedWalk:
    """A Brownian motion from 0 that stops at `lower` < 0 or `upper` > 0.

    Attributes:
        drift: the drift in a unit of time.
        variance: the variance in a unit of time.
    """

    lower: float
    upper: float
    drift: float
    variance: float

    def widened(self, steps: float) -> "_BoundedWalk":
        """Return it with bounds that are farther away by `steps` standard deviations."""
        excess = steps * math.sqrt(self.variance)
        return replace(self, lower=self.lower - excess, upper=self.upper + excess)

    @property
    def upper_probability(self) -> float:
        """The probability that it stops at the upper bound."""
        tilt = 2 * self.drift / self.variance
        if abs(tilt) * (self.upper - self.lower) < 1e-9:
            return -self.lower / (self.upper - self.lower)
        if tilt > 0:
            return math.expm1(tilt * self.lower) / math.expm1(-tilt * (self.upper - self.lower))
        return (
            1 - _BoundedWalk(-self.upper, -self.lower, -self.drift, self.variance).upper_probability
        )

    @property
    def duration(self) -> float:
        """The expected time until it stops."""
        if abs(self.drift) * (self.upper - self.lower) < 1e-6 * self.variance:
            return -self.lower * self.upper / self.variance
        return (
            self.upper * self.upper_probability + self.lower * (1 - self.upper_probability)
        ) / self.drift

    def worse_than(self, time: float, position: float) -> float:
        """Return the probability of an outcome below `position` at `time`.

        Outcomes below it are a stop at the lower bound until then, and a lower position (or a stop
        at the upper bound) later than that.
        """
        return self._stopped_low(time) + self._moving_below(time, position)

    def _stopped_low(self, time: float) -> float:
        """Return the probability of a stop at the lower bound until `time`, by images.

        The image at the distance d of the bound adds a first passage, which is distributed as an
        inverse Gaussian. Images beyond the bounds alternate in sign.
        """
        width, spread = 2 * (self.upper - self.lower), math.sqrt(self.variance * time)
        tilt, displacement = abs(self.drift) / self.variance, abs(self.drift) * time
        offset = self.drift * self.lower / self.variance

        def passage(distance: float) -> float:
            return _scaled(offset - distance * tilt, (displacement - distance) / spread) + _scaled(
                offset + distance * tilt, (-displacement - distance) / spread
            )

        total, number = passage(-self.lower), 1
        while True:
            gain = passage(number * width - self.lower)
            loss = passage(number * width + self.lower)
            total += gain - loss
            if gain + loss < _NEGLIGIBLE:
                return total
            number += 1

    def _moving_below(self, time: float, position: float) -> float:
        """Return the probability of a place between the lower bound and `position`, by images."""
        width, spread = 2 * (self.upper - self.lower), math.sqrt(self.variance * time)
        displacement, tilt = self.drift * time, self.drift / self.variance

        def mass(image: float) -> float:
            top, bottom = ((end - image - displacement) / spread for end in (position, self.lower))
            if bottom > 0:
                top, bottom = -bottom, -top
            return _scaled(tilt * image, top) - _scaled(tilt * image, bottom)

        total, number = mass(0.0) - mass(2 * self.upper), 1
        while True:
            terms = [
                mass(sign * number * width) - mass(2 * self.upper + sign * number * width)
                for sign in (1, -1)
            ]
            total += math.fsum(terms)
            if max(map(abs, terms)) < _NEGLIGIBLE:
                return total
            number += 1


def _scaled(exponent: float, z: float) -> float:
    """Return exp(exponent) * normal(z), also if the factors leave the range of floats."""
    if z > -30:
        share = normal(z)
        return math.exp(exponent + math.log(share)) if share else 0.0
    # The asymptotic value of the tail (Mills' ratio).
    return math.exp(exponent - z * z / 2) / (-z * math.sqrt(2 * math.pi))
