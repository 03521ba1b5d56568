"""Means adjusted by control variates: unbiased with any controls, and intervals that hold."""

import numpy as np
import pytest

from arena.ratings.control_variates import FEWEST, adjusted_mean, adjusted_results
from tests.errors import has_code

SAMPLES = 1_000
"""Simulated comparisons."""
WINS = 0.6381631950841185
"""Probability that the sum of two standard normal variables exceeds -0.5."""


def test_controls_of_zero_change_nothing() -> None:
    results = [0.0, 0.5, 1.0, 0.25] * 15
    mean = adjusted_mean(results, [[0.0, 0.0]] * len(results))
    assert mean.value == mean.raw == pytest.approx(0.4375)
    assert mean.saved == pytest.approx(1)


def test_a_perfect_control_leaves_no_error() -> None:
    luck = np.random.default_rng(0).normal(size=100)
    mean = adjusted_mean(list(3 + 2 * luck), luck[:, None])
    assert mean.value == pytest.approx(3)
    assert mean.error == pytest.approx(0, abs=1e-9)


def test_an_adjusted_result_does_not_affect_its_own_multiple() -> None:
    chance = np.random.default_rng(1)
    luck = chance.normal(size=(60, 1))
    results = luck[:, 0] + chance.normal(size=60)
    changed = results.copy()
    changed[0] += 5
    difference = adjusted_results(changed, luck) - adjusted_results(results, luck)
    assert difference[0] == pytest.approx(5)
    assert difference[1:].any()


def test_few_results_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 40") as caught:
        adjusted_mean([0.5] * (FEWEST - 1), [[0.0]] * (FEWEST - 1))
    assert has_code("few-results")(caught.value)


@pytest.mark.long
def test_adjusted_means_are_unbiased_and_their_intervals_hold() -> None:
    """Results are scores of two games; one control explains them, four do not."""
    chance = np.random.default_rng(2)
    covered, means = 0, []
    for _ in range(SAMPLES):
        luck = chance.normal(size=(60, 5)) * [1, 1, 3, 0.2, 1]
        wins = luck[:, :1] + chance.normal(size=(60, 2)) > -0.5
        mean = adjusted_mean(list(wins.mean(axis=1)), luck)
        means.append(mean.value)
        covered += mean.low <= WINS <= mean.high
    assert abs(np.mean(means) - WINS) < 4 * np.std(means) / SAMPLES**0.5
    assert 0.93 <= covered / SAMPLES <= 0.97
