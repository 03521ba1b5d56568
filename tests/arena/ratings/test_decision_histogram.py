"""Test the histogram of decision times: quantiles are close to the times, and histograms add up."""

import math
import random

import pytest

from arena.ratings.decision_histogram import DecisionHistogram


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_quantile_is_accurate_to_nine_percent(share: float) -> None:
    dice = random.Random(1)
    times = sorted(dice.lognormvariate(1, 2) for _ in range(2000))
    exact = times[math.ceil(share * len(times)) - 1]
    assert DecisionHistogram.of(times).quantile(share) == pytest.approx(exact, rel=0.0906)


def test_histograms_add_up() -> None:
    first, second = [0.2, 5.0, 70.0], [5.1, 900.0]
    assert DecisionHistogram.of(first) + DecisionHistogram.of(second) == DecisionHistogram.of(
        first + second
    )


def test_an_empty_histogram_has_no_quantile_and_zero_times_have_one() -> None:
    assert DecisionHistogram().p95 is None
    assert DecisionHistogram.of([0.0]).p95 == pytest.approx(0.01, rel=0.2)
    assert DecisionHistogram.of([3.0]).to_json() == {"decisions": 1, "p50_ms": 3.08, "p95_ms": 3.08}
