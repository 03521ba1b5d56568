"""Test with random trees of links that the arena grants nothing outside of its fixed list."""

import pytest

from tests.hostile.random_trees import not_allowed, violations
from tests.hostile.sandboxed_run import ALL_LEVELS

QUICK, ALL = 20, 10_000
"""Numbers of random trees."""
pytestmark = pytest.mark.timeout(900)


def test_random_trees_of_links_grant_nothing() -> None:
    assert violations(range(QUICK), not_allowed) == []


@pytest.mark.hostile
def test_ten_thousand_random_trees_of_links_grant_nothing() -> None:
    count = ALL if ALL_LEVELS else ALL // 40
    assert violations(range(QUICK, QUICK + count), not_allowed) == []
