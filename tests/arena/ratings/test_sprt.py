"""Test the sequential test: published log-likelihood ratios, the bounds, and the error rates."""

import math
import random
from dataclasses import replace

import pytest

from arena.ratings.duel import NORMALIZED, Duel, pentanomial, trinomial
from arena.ratings.scale import expected_score
from arena.ratings.sprt import Model, SprtSettings, log_likelihood_ratio
from tests.errors import has_code


@pytest.mark.parametrize(
    ("duel", "low", "high", "model", "ratio"),
    [
        (trinomial(36433, 36027, 68692), 0, 2, "normalized", 0.92),
        (trinomial(10871, 10650, 20431), -1.75, 0.25, "normalized", 2.30),
        (trinomial(21404, 21184, 40708), 0.5, 2.5, "logistic", -1.57),
        (trinomial(57433, 57030, 106593), 0, 2, "logistic", -2.59),
        (pentanomial(365, 16618, 36029, 200, 16974, 390), 0, 2, "normalized", 2.25),
        (pentanomial(127, 4883, 10311, 401, 5150, 104), -1.75, 0.25, "normalized", 3.01),
        (pentanomial(223, 9863, 20279, 1000, 10037, 246), 0.5, 2.5, "logistic", -3.07),
        (pentanomial(871, 26175, 55003, 980, 26678, 821), 0, 2, "logistic", -4.98),
    ],
)
def test_ratios_agree_with_fastchess(
    duel: Duel, low: float, high: float, model: Model, ratio: float
) -> None:
    test = SprtSettings(low, high, alpha=0.05, beta=0.05, model=model)
    assert f"{log_likelihood_ratio(test, duel):.2f}" == f"{ratio:.2f}"


@pytest.mark.parametrize("model", ["logistic", "normalized"])
def test_a_result_that_never_occurred_counts_as_a_thousandth(model: Model) -> None:
    """Fastchess does the same."""
    test, duel = SprtSettings(0, 5, model=model), pentanomial(0, 3, 10, 0, 12, 0)
    thousandfold = replace(duel, counts=tuple(1000 * count or 1 for count in duel.counts))
    ratio = log_likelihood_ratio(test, thousandfold) / 1000
    assert log_likelihood_ratio(test, duel) == pytest.approx(ratio, rel=1e-9)


def test_bounds_follow_from_alpha_and_beta() -> None:
    assert SprtSettings(0, 5).bounds == pytest.approx((-2.944439, 2.944439), abs=1e-6)
    assert SprtSettings(0, 5, alpha=0.1, beta=0.2).bounds == pytest.approx(
        (-1.504077, 2.079442), abs=1e-6
    )


def test_the_verdict_is_high_at_the_upper_bound_and_low_at_the_lower() -> None:
    test = SprtSettings(0, 5)
    lower, upper = test.bounds
    assert [test.verdict(ratio) for ratio in (lower, 0.0, upper)] == ["low", "open", "high"]


def test_swapping_the_sides_negates_the_ratio() -> None:
    test = SprtSettings(-5, 5)
    ahead, behind = trinomial(60, 40, 30), trinomial(40, 60, 30)
    assert log_likelihood_ratio(test, ahead) == pytest.approx(-log_likelihood_ratio(test, behind))


@pytest.mark.parametrize(
    ("low", "high", "alpha", "beta", "code"),
    [
        (5, 0, 0.05, 0.05, "bounds"),
        (0, 0, 0.05, 0.05, "bounds"),
        (0, 5, 0.0, 0.05, "error-rates"),
        (0, 5, 0.6, 0.4, "error-rates"),
    ],
)
def test_a_test_that_cannot_decide_is_refused(
    low: float, high: float, alpha: float, beta: float, code: str
) -> None:
    with pytest.raises(ValueError, check=has_code(code)):
        SprtSettings(low, high, alpha, beta)


def play(test: SprtSettings, elo: float, dice: random.Random) -> str:
    """Return the verdict on games, a quarter of them drawn, computed after every tenth game."""
    score = expected_score(elo)
    wins = losses = draws = 0
    while True:
        for _ in range(10):
            luck = dice.random()
            wins += luck < score - 0.125
            draws += score - 0.125 <= luck < score + 0.125
            losses += luck >= score + 0.125
        verdict = test.verdict(log_likelihood_ratio(test, trinomial(wins, losses, draws)))
        if verdict != "open":
            return verdict


@pytest.mark.long
@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "high"), (60.0, "low")])
def test_error_rates_match_alpha_and_beta(elo: float, wrong: str) -> None:
    test, dice = SprtSettings(0, 60, alpha=0.1, beta=0.1), random.Random(1)
    verdicts = [play(test, elo, dice) for _ in range(400)]
    assert 0.04 <= verdicts.count(wrong) / len(verdicts) <= 0.14


def test_the_ratio_of_104_won_pairs_matches_a_manual_calculation() -> None:
    """Derive the ratio of 104 won pairs, for which the test of fastchess prints 2.94.

    The likeliest distribution with a mean of t standard deviations above one half has only pairs
    with two wins (share w) or two losses: w - 1/2 = t * sqrt(w * (1 - w)).
    """
    effect = 5 * math.sqrt(2) / NORMALIZED
    won = 0.5 + 0.5 * effect / math.sqrt(1 + effect**2)
    ratio = log_likelihood_ratio(
        SprtSettings(0, 5, model="normalized"), pentanomial(0, 0, 0, 0, 0, 104)
    )
    assert ratio == pytest.approx(104 * math.log(won / 0.5), abs=0.02)
