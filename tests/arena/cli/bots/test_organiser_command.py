"""`pokearena organiser`: tokens are shown once, and every change is in the audit log."""

import json

from arena.cli.workspace import Workspace
from arena.errors import Conflict
from arena.store.access import organisers
from tests.arena.cli.terminal import Cli


def test_a_token_is_created_renewed_and_revoked_with_audit_entries(cli: Cli) -> None:
    token = cli("organiser", "add", "grace").out.strip()
    store = Workspace(None).store
    assert organisers.known_by(store, token) == "grace"
    again = cli("organiser", "add", "grace")
    assert isinstance(again.error, Conflict)
    renewed = cli("organiser", "renew", "grace", "--json", "--reason", "a test").json["token"]
    assert organisers.known_by(store, token) is None
    assert organisers.known_by(store, renewed) == "grace"
    assert cli("organiser", "list", "--json").json["organiser"] == "grace"
    assert cli("organiser", "revoke", "grace", "--reason", "a test").status == 0
    assert organisers.known_by(store, renewed) is None
    audit = cli("organiser", "audit", "--json").out
    entries = [json.loads(line) for line in audit.splitlines()]
    assert [entry["action"].rpartition(".")[2] for entry in entries] == ["revoke", "renew", "add"]
    assert {entry["origin"] for entry in entries} == {"command"}
    assert token not in audit
    assert renewed not in audit
    assert "organiser.add" in cli("organiser", "audit").out
