"""How often the intervals of strength hold the truth; docs/ratings.md has a table of it."""

import pytest

from bench.coverage import MATCHES, SETTINGS, Setting, coverage


@pytest.mark.long
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("matches", MATCHES)
def test_95_percent_intervals_hold_the_truth_in_93_to_97_of_100_cases(
    setting: Setting, matches: int
) -> None:
    found = coverage(setting, matches, rounds=300)
    assert 0.93 <= found.strength <= 0.97
    assert 0.93 <= found.gap <= 0.97
    assert 0.01 <= found.misfit <= 0.10
