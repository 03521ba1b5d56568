"""Test the coverage of the intervals of strength, as listed in docs/explanation/ratings.md."""

import pytest

from tests.arena.ratings.strength.simulated_fields import (
    MATCHES,
    OUTLIER_MATCHES,
    OUTLIERS,
    SETTINGS,
    FieldSetting,
    bound_coverage,
    coverage,
)
from tests.examples import examples

ONCE = 200
"""The number of matches that CI tries."""
FIRST = (SETTINGS[0], SETTINGS[-1])
"""The fields that CI tries."""


@pytest.mark.long
@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(setting, marks=[pytest.mark.repetition] * (setting not in FIRST))
        for setting in SETTINGS
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "matches",
    [
        pytest.param(matches, marks=[pytest.mark.repetition] * (matches != ONCE))
        for matches in MATCHES
    ],
)
def test_95_percent_intervals_cover_93_to_97_percent(setting: FieldSetting, matches: int) -> None:
    shares = coverage(setting, matches, rounds=300)
    assert 0.93 <= shares.strength <= 0.97
    assert 0.93 <= shares.gap <= 0.97
    assert 0.01 <= shares.misfit <= 0.10


@pytest.mark.long
@pytest.mark.parametrize("seats", [2, 4])
def test_bounds_of_bots_that_won_or_lost_every_game_hold_in_95_percent(seats: int) -> None:
    bounds = [
        bound_coverage(setting, OUTLIER_MATCHES, rounds=examples(60, 20))
        for setting in OUTLIERS
        if setting.seats == seats
    ]
    assert all(each.bounded - each.held <= 0.05 * each.bots for each in bounds)
    assert sum(each.held for each in bounds) >= 0.95 * sum(each.bounded for each in bounds) > 30
