"""Test the starters for line-based programs in real games, through the command line."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.arena.cli.terminal import in_own_process

KITS = Path(__file__).parent.parent.parent / "sample_bots"
NEEDS = {"shell": "sh", "c": "cc"}
"""The starters by folder, each with the program that its tests require."""
EVERY_VARIANT = ("greed", "pokino_up", "tear_down_the_walls", "territory")
PLAYED = [
    ("shell", "poke", 2, ()),
    ("c", "pokex", 4, ()),
    ("c", "pouku", 3, ()),
    ("c", "saint_poker", 2, ()),
    ("c", "pokino", 2, EVERY_VARIANT),
]
"""CI plays each game once: the referee writes the same lines for each program."""
REPEATED = [
    ("c", "poke", 2, ()),
    ("c", "pokex", 2, ()),
    ("c", "pouku", 4, ("teams",)),
    ("c", "saint_poker", 5, ()),
    ("shell", "pokex", 4, ()),
    ("shell", "pouku", 3, ()),
    ("shell", "saint_poker", 5, ()),
    ("shell", "pokino", 2, EVERY_VARIANT),
]


@pytest.fixture
def starter(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    needed = NEEDS[request.param]
    if shutil.which(needed) is None and not os.environ.get("CI"):
        pytest.skip(f"{needed} is not installed")
    kit = tmp_path / "kit"
    shutil.copytree(KITS / request.param, kit, ignore=shutil.ignore_patterns("target"))
    return kit


@pytest.mark.long
@pytest.mark.parametrize(
    ("starter", "game", "seats", "switches"),
    PLAYED + [pytest.param(*form, marks=pytest.mark.repetition) for form in REPEATED],
    indirect=["starter"],
)
def test_a_program_that_reads_and_writes_lines_plays_every_game(
    starter: Path, game: str, seats: int, switches: tuple[str, ...]
) -> None:
    entrants = 2 if game == "pokex" or "teams" in switches else seats
    bots = [starter, *["sample:meek"] * (entrants - 1)]
    options = [word for switch in switches for word in ("--option", switch)]
    words = ["play", game, *bots, "--seats", seats, *options, "--seed", 7, "--json"]
    result = in_own_process(starter.parent, words)
    assert result.status == 0, result.err
    played = json.loads(result.out)
    assert [bot["faults"] for bot in played["bots"]] == [0] * entrants


def test_the_bot_in_shell_is_shorter_than_thirty_lines() -> None:
    assert len((KITS / "shell" / "bot.sh").read_text().splitlines()) < 30
