"""Test the coverage of the intervals of strength, as listed in docs/explanation/ratings.md."""

import pytest

from bench.coverage import MATCHES, SETTINGS, FieldSetting, coverage

ONCE = 200
"""The number of matches that CI tries."""


@pytest.mark.long
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
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
