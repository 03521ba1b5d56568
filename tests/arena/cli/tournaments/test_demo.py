"""The main job: `pokearena demo`."""

from pathlib import Path

import pytest

from arena.cli.tournaments import demo_tournaments
from arena.cli.workspace import Workspace
from arena.store.tournaments import tournaments
from referee.games.registry import GAMES
from tests.arena.cli.terminal import Cli


def entrants(workspace: Workspace, ids: list[str]) -> dict[str, set[str]]:
    """The entrants of each game."""
    stored = [tournaments.find(workspace.store, name) for name in ids]
    return {
        tournament.plan.game: {name.split("@")[0] for name in tournament.entrants}
        for tournament in stored
    }


def test_the_searching_bot_plays_one_game(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    played = entrants(
        workspace, demo_tournaments.begin(workspace, demo_tournaments.planned(None, 1), "friday")
    )
    assert set(played) == set(GAMES)
    assert [game for game, names in played.items() if "strong" in names] == ["pokex"]
    assert all(names >= {"greedy", "meek", "random"} for names in played.values())


def test_in_the_full_demo_the_searching_bot_plays_every_game(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "data")
    played = entrants(
        workspace,
        demo_tournaments.begin(workspace, demo_tournaments.planned(None, 1, full=True), None),
    )
    assert [game for game, names in played.items() if "strong" in names] == list(GAMES)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_demo_ends_with_standings_and_next_commands(program: Cli) -> None:
    """Its output as JSON is looked at where it is installed (tests/test_installation.py)."""
    result = program("demo", "-n", 1, "--cycles", 1, "--workers", 2)
    assert result.status == 0, result.err
    assert result.out.startswith("poke · t-")
    assert "\nsaint_poker-3 · t-" in result.out
    assert "every record verifies" in result.out
    assert "\npage  http://127.0.0.1:" in result.err
    *_, replay, standings, new = result.err.splitlines()
    assert replay.startswith("next  pokearena replay m-")
    assert (standings.strip(), new.strip()) == ("pokearena standings", "pokearena new mybot")
    match = replay.split()[-1]
    assert program("replay", match).status == 0
    assert program("verify", match).status == 0
