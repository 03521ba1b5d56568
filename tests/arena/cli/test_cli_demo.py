"""The main job: `pokearena demo`."""

import json

import pytest

from referee.games.registry import GAMES
from tests.arena.cli.terminal import Cli

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
"""The test of the README runs a demo in the quick suite."""


def test_every_match_of_a_demo_closes_once_and_verifies(program: Cli) -> None:
    said = program("demo", "-n", 1, "--cycles", 1, "--seed", "0", "--json")
    assert said.status == 0, said.err
    told = json.loads(said.out)
    assert {one["game"] for one in told["tournaments"]} == set(GAMES)
    assert all(one["state"] == "closed" for one in told["tournaments"])
    matches = told["matches"]
    assert len({match["match"] for match in matches}) == len(matches) >= 4
    for match in matches:
        assert (match["state"], match["attempts"], match["verified"]) == ("CLOSED", 1, True)
        assert match["games"] == match["planned"]
        assert len(match["commitment"]) == len(match["seed"]) == 64
    bots = {one["version"] for one in told["bots"]}
    assert bots >= {"greedy@1", "meek@1", "random@1"}
    for ladder in told["ladders"].values():
        assert {"greedy@1", "meek@1", "random@1"} <= {one["entrant"] for one in ladder} <= bots
        assert not any(one["faults"] for one in ladder)


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
