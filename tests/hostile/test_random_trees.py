"""Test with random trees of links that the arena grants nothing outside of its fixed list."""

import importlib.util
import os

import pytest

from tests.hostile.random_trees import not_allowed, violations

QUICK, ALL = 20, 10_000
"""Numbers of random trees."""
pytestmark = pytest.mark.timeout(900)
has_list = pytest.mark.skipif(
    importlib.util.find_spec("arena.bots.sandbox.runtimes") is None,
    reason="this version of the arena has no list of runtimes",
)


@has_list
def test_random_trees_of_links_grant_nothing() -> None:
    assert violations(range(QUICK), not_allowed) == []


@has_list
@pytest.mark.hostile
def test_ten_thousand_random_trees_of_links_grant_nothing() -> None:
    count = ALL if os.environ.get("POKEARENA_HOSTILE") == "all" else ALL // 20
    assert violations(range(QUICK, QUICK + count), not_allowed) == []
