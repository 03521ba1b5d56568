"""`tournament void`, `tournament disqualify`, `bot ban` and `owner assign`."""

from arena.cli.workspace import Workspace
from arena.store.access import audit_log
from arena.store.bots import versions
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.tournaments import scheduler
from referee.games.registry import find_game
from tests.arena.cli.stored_tournament import play_match, store_tournament
from tests.arena.cli.terminal import Cli
from tests.arena.poke_plan import poke_plan

PLAN = poke_plan(options=find_game("poke").settle({}))


def test_corrections_have_reasons_and_audit_entries(cli: Cli) -> None:
    workspace = Workspace(None)
    tournament = store_tournament(workspace, ["ada", "bob", "cy"], {})
    matches = listing.matches(workspace.store, tournament=tournament)
    match = next(match for match in matches if "cy@1" not in match.entrants)
    assert cli("tournament", "void", match.id).status == 2
    reason = ("--reason", "a power cut", "--json")
    assert cli("tournament", "replay", match.id, *reason).status == 1
    voided = cli("tournament", "void", match.id, *reason).json
    assert voided["state"] == "void"
    assert listing.find_match(workspace.store, match.id).state is MatchState.VOID
    left = cli("tournament", "disqualify", tournament, "cy@1", *reason).json
    assert len(left["voided"]) == 2
    banned = cli("bot", "ban", "bob@1", *reason).json
    assert banned["quarantined"] is not None
    assert (
        cli("bot", "release", "bob@1", "--json", "--reason", "a test").json["quarantined"] is None
    )
    assert cli("owner", "assign", "ada", "grace", *reason).json["owner"] == "grace"
    assert versions.find_version(workspace.store, "ada@1").owner == "grace"
    actions = {entry.action for entry in audit_log.list_entries(workspace.store)}
    assert actions == {
        "match.void",
        "version.disqualify",
        "version.ban",
        "version.release",
        "bot.owner",
    }


def test_a_match_is_replayed_while_its_tournament_is_open(cli: Cli) -> None:
    workspace = Workspace(None)
    store_tournament(workspace, ["ada", "bob"], {})
    tournament = scheduler.begin(workspace.store, PLAN, ["ada@1", "bob@1"])
    (match,) = listing.matches(workspace.store, tournament=tournament.id)
    play_match(workspace.store, match.id)
    reason = ("--reason", "a power cut")
    answer = cli("tournament", "replay", match.id, *reason, "--json").json
    again = listing.find_match(workspace.store, answer["replay"])
    assert (again.state, again.entrants) == (MatchState.PENDING, match.entrants)
    assert cli("tournament", "replay", again.id, *reason).status == 1
