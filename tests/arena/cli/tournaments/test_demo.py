"""The tournaments of `pokearena demo`.

tests/test_installation.py runs the command: in a fresh clone, and installed from the wheel.
"""

from pathlib import Path

from arena.cli.tournaments import demo_tournaments
from arena.cli.workspace import Workspace
from arena.store.tournaments import tournaments
from referee.games.registry import GAMES


def entrants(workspace: Workspace, ids: list[str]) -> dict[str, set[str]]:
    """Return the entrants of each game."""
    stored = [tournaments.find_tournament(workspace.store, name) for name in ids]
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
