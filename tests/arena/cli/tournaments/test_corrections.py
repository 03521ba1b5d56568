"""`tournament void`, `tournament disqualify`, `bot ban` and `owner assign`."""

import json

from arena.cli.workspace import Workspace
from arena.store.access import audit_log
from arena.store.bots import versions
from arena.store.matches import listing
from arena.store.schema import MatchState
from tests.arena.cli.stored_tournament import store_tournament
from tests.arena.cli.terminal import Cli


def test_corrections_have_reasons_and_audit_entries(cli: Cli) -> None:
    workspace = Workspace(None)
    tournament = store_tournament(workspace, ["ada", "bob", "cy"], {})
    matches = listing.matches(workspace.store, tournament=tournament)
    match = next(match for match in matches if "cy@1" not in match.entrants)
    assert cli("tournament", "void", match.id).status == 2
    reason = ("--reason", "a power cut", "--json")
    voided = json.loads(cli("tournament", "void", match.id, *reason).out)
    assert voided["state"] == "void"
    assert listing.find(workspace.store, match.id).state is MatchState.VOID
    left = json.loads(cli("tournament", "disqualify", tournament, "cy@1", *reason).out)
    assert len(left["voided"]) == 2
    banned = json.loads(cli("bot", "ban", "bob@1", *reason).out)
    assert banned["quarantined"] is not None
    assert json.loads(cli("bot", "release", "bob@1", "--json").out)["quarantined"] is None
    assert json.loads(cli("owner", "assign", "ada", "grace", *reason).out)["owner"] == "grace"
    assert versions.find(workspace.store, "ada@1").owner == "grace"
    actions = {entry.action for entry in audit_log.listing(workspace.store)}
    assert actions == {
        "match.void",
        "version.disqualify",
        "version.ban",
        "version.release",
        "bot.owner",
    }
