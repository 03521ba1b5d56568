"""Test that no later bot can read what an earlier one has changed, for a minute per level."""

import pytest

from arena.bots.sandbox.level import Level
from tests.hostile.memory_search import ALL, row, search, writers
from tests.hostile.sandboxed_run import ALL_LEVELS, need

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(300)]
LEVELS = (Level.BUBBLEWRAP, Level.LANDLOCK)
MINUTES = 0.2 if ALL_LEVELS else 0.1
"""Time after which no further writer starts; the last one may take as long again."""
MOST_LIKELY = ("bound_memory", "attributes", "touches_names")
"""Kinds whose memory was found once."""


@pytest.mark.parametrize("level", LEVELS)
def test_a_later_bot_reads_nothing_of_an_earlier_one(level: Level) -> None:
    need(level)
    findings = search(level, MINUTES, [ALL, *MOST_LIKELY])
    assert [row(finding) for finding in findings if not finding.known] == []


def test_the_kinds_of_writers_are_found() -> None:
    assert set(MOST_LIKELY) < set(writers())
