"""Test the length of sequential tests, and differences after they stopped."""

import math
import random

import pytest

from arena.ratings.duel import Duel, elo_difference, of_boards
from arena.ratings.scale import expected_score
from arena.ratings.sprt import Model, SprtSettings, log_likelihood_ratio
from arena.ratings.sprt_length import SprtUnit, elo_of, length, mirrored_board, stopped
from tests.errors import has_code

FISHTEST = SprtSettings(0, 2, model="normalized")


@pytest.mark.parametrize(
    ("counts", "elo", "low", "high"),
    [
        ((1, 20, 300, 900, 779), 245.4729, 223.6370, 289.7981),
        ((1, 60, 500, 1200, 600), 188.3595, 170.7252, 214.8484),
    ],
)
def test_stopped_tests_agree_with_the_tests_of_fishtest(
    counts: tuple[int, ...], elo: float, low: float, high: float
) -> None:
    """Compare with server/tests/test_stats_sprt.py of fishtest."""
    seen = stopped(FISHTEST, of_boards(counts), excess=0)
    assert (seen.value, seen.low, seen.high) == pytest.approx((elo, low, high), abs=5e-4)


@pytest.mark.parametrize("model", ["logistic", "normalized"])
def test_the_error_rates_are_met_at_the_bounds(model: Model) -> None:
    test, unit = SprtSettings(0, 5, alpha=0.02, beta=0.1, model=model), mirrored_board(0.6)
    low, high = (length(test, unit, elo_of(test, unit, bound)) for bound in (0, 5))
    assert (low.upper_probability, high.upper_probability) == pytest.approx((0.02, 0.9), abs=0.002)


def test_expected_lengths_are_those_of_wald() -> None:
    """Compare with A. Wald, "Sequential Tests of Statistical Hypotheses" (1945).

    At the bounds the expected ratio is (1 - p) a + p b; halfway the expected number of units is
    -a b divided by the variance of the ratio.
    """
    test, unit = SprtSettings(0, 5), SprtUnit(0.1)
    a, b = test.bounds
    step = expected_score(5) - expected_score(0)
    middle = elo_of(test, unit, 2.5)
    assert length(test, unit, middle).units == pytest.approx(-a * b / step**2 * 0.1, rel=1e-4)
    at_high = (0.05 * a + 0.95 * b) / (step**2 / 2) * 0.1
    assert length(test, unit, 5).units == pytest.approx(at_high, rel=1e-9)


def test_expected_lengths_agree_with_the_calculator_of_fishtest() -> None:
    """Compare with the output of fishtest's sprt.js for bounds 0 and 2, and 60 % draws."""
    test, unit = SprtSettings(0, 2), SprtUnit(0.1, games=1)
    lines = [length(test, unit, elo) for elo in (-1, 0, 1.5, 3)]
    assert [line.upper_probability for line in lines] == pytest.approx(
        [0.002762363744, 0.05, 0.813397745653, 0.997237232704]
    )
    assert [line.units for line in lines] == pytest.approx(
        [35347.030859, 63978.382212, 89112.843950, 35347.880658]
    )


def test_mirrored_boards_that_save_games_shorten_the_test() -> None:
    test = SprtSettings(0, 25)
    plain, saving = (length(test, mirrored_board(0.2, factor), 10) for factor in (1, 2.5))
    assert plain.units == pytest.approx(2.5 * saving.units, rel=1e-6)


def test_normalized_bounds_take_the_same_number_of_games_for_any_share_of_draws() -> None:
    test = SprtSettings(0, 10, model="normalized")
    few, many = (mirrored_board(draws) for draws in (0.0, 0.9))
    lengths = [length(test, unit, elo_of(test, unit, 4)).units for unit in (few, many)]
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-3)


def test_a_unit_needs_a_variance() -> None:
    with pytest.raises(ValueError, check=has_code("variance")):
        SprtUnit(0.0)


def test_an_open_test_without_wins_has_an_open_end() -> None:
    seen = stopped(SprtSettings(0, 200), of_boards((1, 0, 0, 0, 0)))
    assert seen.low == -math.inf
    assert math.isfinite(seen.high)


def play(test: SprtSettings, elo: float, dice: random.Random) -> Duel:
    """Return the results at the stop of a test whose games end without draws."""
    score, counts = expected_score(elo), [0, 0, 0]
    while True:
        counts[2 * (dice.random() < score)] += 1
        duel = Duel((0.0, 0.5, 1.0), tuple(counts))
        if test.verdict(log_likelihood_ratio(test, duel)) != "open":
            return duel


@pytest.mark.long
def test_intervals_after_a_stop_cover_95_percent() -> None:
    test, dice = SprtSettings(0, 120, alpha=0.1, beta=0.1), random.Random(5)
    ends = [play(test, 90, dice) for _ in range(300)]
    seen = [stopped(test, end) for end in ends]
    above = sum(interval.value > 90 for interval in seen) / len(seen)
    assert 0.42 <= above <= 0.58
    covered = sum(interval.low <= 90 <= interval.high for interval in seen) / len(seen)
    assert 0.93 <= covered <= 0.97
    plain = sum(elo_difference(end).value > 90 for end in ends) / len(ends)
    assert abs(above - 0.5) < abs(plain - 0.5)
