"""Seasons: a new ladder of a form starts new ratings, and the earlier one is kept."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.bots.manifest import Manifest
from arena.cli.workspace import Workspace
from arena.store.bots import versions
from arena.store.matches import games, match_leases
from arena.store.schema import TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.submissions import open_ladders
from arena.tournaments import scheduler
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import record, store_tournament
from tests.arena.cli.terminal import Cli


def play(workspace: Workspace, matches: int) -> None:
    """Play this number of pending matches; the first entrant wins every game."""
    for _ in range(matches):
        lease = match_leases.lease(workspace.store, match_leases.due(workspace.store)[0], "w", 600)
        assert lease is not None
        names = lease.spec.versions
        for number in range(lease.spec.games):
            text = record(number, lease.spec.boards, names, names)
            match_leases.commit_game(workspace.store, lease, games.read(text, names))
        scheduler.Scheduler(workspace.store).advance()


@pytest.fixture
def workspace(cwd: Path) -> Workspace:
    """Return an arena with a tournament of three bots and an open ladder of the same form."""
    workspace = Workspace()
    store_tournament(workspace, ("ace", "bee", "cat"), {})
    open_ladders.create_missing(workspace.store, [open_ladders.plan_of("poke")])
    play(workspace, 2)
    return workspace


def ladder_matches(cli: Cli, *words: str) -> dict[str, int]:
    """Return the number of matches of each bot on the ladder."""
    rows = cli("standings", *words, "--json").json["ladders"]["poke"]
    return {line["entrant"]: line["matches"] for line in rows}


def test_ratings_start_anew_and_the_earlier_season_stays(cli: Cli, workspace: Workspace) -> None:
    before = ladder_matches(cli, "poke")
    (ladder,) = open_ladders.list_open_ladders(workspace.store)
    versions.retire(workspace.store, "cat@1")
    made = cli("ladder", "new-season", "poke", "--name", "Spring", "--json").json
    assert (made["season"], made["name"], made["entrants"]) == (2, "Spring", ["ace@1", "bee@1"])
    assert made["settings"] == {**ladder.plan.settings, "season": 2}
    assert (
        tournaments.find_tournament(workspace.store, ladder.id).state is TournamentState.CANCELLED
    )
    assert [each.id for each in open_ladders.list_open_ladders(workspace.store)] == [
        made["tournament"]
    ]
    # The bots of the new season are listed before their first match.
    assert ladder_matches(cli, "poke") == {"ace@1": 0, "bee@1": 0}
    assert ladder_matches(cli, "poke", "--season", "1") == before
    play(workspace, 1)
    assert ladder_matches(cli, "poke", "--season", "2") == {"ace@1": 1, "bee@1": 1}
    assert ladder_matches(cli, "poke", "--season", "1") == before
    assert cli("standings", "poke", "--season", "3").code == "unknown-season"


def test_all_seasons_are_verified(cli: Cli, workspace: Workspace) -> None:
    assert cli("ladder", "new-season", "poke").status == 0
    play(workspace, 1)
    document = cli("ladder", "verify", "--json").json
    assert (document["verified"], set(document["ladders"])) == (True, {"poke", "poke, season 1"})


def test_a_season_can_begin_without_a_ladder(cli: Cli, cwd: Path) -> None:
    workspace = Workspace()
    for name in ("ace", "bee"):
        versions.add_version(workspace.store, name, "1", name * 8, f"/{name}", {"run": ["x"]})
    made = cli("ladder", "new-season", "pokex-2", "--json").json
    assert (made["season"], made["form"]) == (1, "pokex-2")
    assert cli("ladder", "new-season", "poke").last == "next  pokearena standings poke"
    assert cli("ladder", "new-season", "whist").status == 2
    assert cli("ladder", "new-season", "poke-9").code == "unknown-form"


def test_an_interrupted_start_of_a_season_is_repeated(cli: Cli, workspace: Workspace) -> None:
    (ladder,) = open_ladders.list_open_ladders(workspace.store)
    lifecycle.cancel(workspace.store, ladder.id)
    made = cli("ladder", "new-season", "poke", "--json").json
    assert (made["season"], made["entrants"]) == (2, ["ace@1", "bee@1", "cat@1"])
    again = cli("ladder", "new-season", "poke", "--json").json
    assert again["season"] == 3


def test_pushed_bots_enter_the_new_season(cli: Cli, workspace: Workspace) -> None:
    assert cli("ladder", "new-season", "poke").status == 0
    version = versions.add_version(
        workspace.store, "new", "1", "n" * 64, "/new", {"run": ["x"]}, "ada"
    )
    (ladder,) = open_ladders.list_open_ladders(workspace.store)
    assert open_ladders.join(workspace.store, version, Manifest("new", ("x",))) == {
        ladder.id: "poke"
    }
    assert set(ladder_matches(cli, "poke")) == {"ace@1", "bee@1", "cat@1"}


def test_the_pages_show_the_season_and_link_the_archive(cli: Cli, workspace: Workspace) -> None:
    cli("ladder", "new-season", "poke")
    play(workspace, 1)
    with TestClient(create(WebState(workspace.store, ServerSettings(rate=0)))) as client:
        now = client.get("/ladders/poke.json").json()
        assert (now["season"], now["archived"], now["seasons"]) == (2, False, [1, 2])
        old = client.get("/ladders/poke.json?season=1").json()
        assert (old["season"], old["archived"]) == (1, True)
        assert sum(line["matches"] for line in old["standings"]) == 10
        assert sum(line["matches"] for line in now["standings"]) == 2
        assert 'href="/ladders/poke?season=1"' in client.get("/ladders/poke").text
        archive = client.get("/ladders/poke?season=1").text
        for tournament in tournaments.list_tournaments(workspace.store)[:2]:
            assert f'href="/tournaments/{tournament.id}"' in archive
        assert client.get("/ladders/poke?season=9").status_code == 404
        assert client.get("/ladders/poke?season=x").status_code == 400
        assert client.get("/ladders/poke?season=2").status_code == 200
        assert client.get("/ladders/poke/matrix").status_code == 200
