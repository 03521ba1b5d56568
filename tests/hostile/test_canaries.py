"""Test that a bot reads, writes, lists and stats none of the canaries of an arena."""

import pytest

from arena.bots.sandbox.level import Level
from tests.hostile.canaries import METADATA, PLACES, has_view, is_writable, placed, reached
from tests.hostile.sandboxed_run import need

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(180)]
LEVELS = (Level.BUBBLEWRAP, Level.LANDLOCK)
DATA_NAME = "name of the data folder"
CHECKOUT = ("repository", "source of the arena")
"""Python searches the kit in a checkout, so Landlock alone lets it list the names there."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_reaches_no_canary(level: Level, place: str) -> None:
    need(level)
    below = PLACES[place]()
    if below is not None and not is_writable(below):
        pytest.skip(f"{below} is not writable")
    with placed(level, below) as canaries:
        ways, output = reached(canaries, level)
    if not has_view(level):
        # Landlock restricts neither metadata nor the paths of a bot's own files.
        ways = [way for way in ways if not _is_metadata(way)]
    assert ways == [], output


def _is_metadata(way: str) -> bool:
    name, act, *_ = way.split(": ")
    is_checkout = name in CHECKOUT and act == "list"
    return name == DATA_NAME or act in METADATA or is_checkout
