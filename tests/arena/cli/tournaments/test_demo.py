"""The main job: `pokearena demo`."""

import pytest

from tests.arena.cli.terminal import Cli

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
"""What it tells programs is looked at where it is installed (tests/test_installation.py)."""


def test_a_demo_ends_with_a_ladder_a_game_and_what_to_type_next(program: Cli) -> None:
    said = program("demo", "-n", 1, "--cycles", 1, "--workers", 2)
    assert said.status == 0, said.err
    assert said.out.startswith("poke · t-")
    assert "\nsaint_poker-3 · t-" in said.out
    assert "every record verifies" in said.out
    assert "\npage  http://127.0.0.1:" in said.err
    *_, replay, standings, new = said.err.splitlines()
    assert replay.startswith("next  pokearena replay m-")
    assert (standings.strip(), new.strip()) == ("pokearena standings", "pokearena new mybot")
    match = replay.split()[-1]
    assert program("replay", match).status == 0
    assert program("verify", match).status == 0
