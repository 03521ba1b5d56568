"""Grants of models, the stop of all calls, and the check of `models.toml`."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import update

from arena.cli.workspace import Workspace
from arena.ratings.call_figures import CallFigures
from arena.store import schema
from arena.store.database import writing
from arena.store.matches import model_calls
from arena.store.matches.model_calls import Caller, CallPlace
from tests.arena.cli.terminal import Cli

MODELS = """
[models.small]
base_url = "https://api.example.org/v1"
model = "small-1"
input_price = 1
output_price = 2
key = "POKEARENA_TEST_KEY_OF_NOBODY"
"""


@pytest.fixture
def models_file(cli: Cli, bot_folder: Path) -> Path:
    toml = bot_folder / "bot.toml"
    toml.write_text(f'models = ["small"]\n{toml.read_text()}')
    assert cli("bot", "add", "mine", "--owner", "ada").status == 0
    file = Path(".pokearena/models.toml")
    file.write_text(MODELS)
    return file


def listed(cli: Cli) -> dict[str, object]:
    document: dict[str, object] = cli("models", "list", "--json").json
    return document


def test_models_are_granted_to_owners_and_versions(cli: Cli, models_file: Path) -> None:
    assert listed(cli) == {"stopped": False, "grants": [], "days": 1, "usage": []}
    assert cli("models", "grant", "small", "--owner", "ada").status == 0
    assert cli("models", "grant", "small", "--bot", "mine@1").status == 0
    grants = [{"model": "small", "owner": "ada"}, {"model": "small", "version": "mine@1"}]
    assert listed(cli)["grants"] == grants
    assert cli("models", "grant", "small", "--owner", "ada").code == "granted"
    assert cli("models", "revoke", "small", "--owner", "ada").status == 0
    assert cli("models", "revoke", "small", "--owner", "ada").code == "NotFound"
    assert listed(cli)["grants"] == grants[1:]
    assert cli("owner", "delete", "ada", "--yes").status == 0
    assert listed(cli)["grants"] == []


def test_the_spending_of_the_last_days_is_listed_by_bot(cli: Cli, models_file: Path) -> None:
    store = Workspace().store
    worst = CallFigures(60, 40, 0.5)
    for version in ("mine@1", "mine@2", "mine@2"):
        caller = Caller("ada", version, "m-1", 1, 0)
        model_calls.reserve_call(store, caller, CallPlace(0), "small", worst, 1000)
    calls = schema.model_calls
    with writing(store) as connection:
        old = update(calls).where(calls.c.version == "mine@1")
        connection.execute(old.values(at=calls.c.at - 6 * 86_400))
    for days, versions in (("1", ["mine@2"]), ("6", ["mine@2"]), ("7", ["mine@1", "mine@2"])):
        listed = cli("models", "list", "--days", days, "--json").json
        assert [each["version"] for each in listed["usage"]] == versions
        assert (listed["usage"][-1]["owner"], listed["usage"][-1]["cost"]) == ("ada", 1.0)
    assert "mine@1" in cli("models", "list", "--days", "7").out
    assert cli("models", "list", "--days", "0").status == 2


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["large", "--owner", "ada"], 2, "unknown-model"),
        (["small"], 2, "one-grantee"),
        (["small", "--owner", "ada", "--bot", "mine@1"], 2, "one-grantee"),
        (["small", "--owner", "bea"], 2, "NotFound"),
        (["small", "--bot", "mine@9"], 2, "NotFound"),
    ],
)
def test_a_wrong_grant_is_refused(
    cli: Cli, models_file: Path, words: list[str], status: int, code: str
) -> None:
    result = cli("models", "grant", *words)
    assert (result.status, result.code) == (status, code)


def test_one_command_stops_all_calls(cli: Cli, models_file: Path) -> None:
    assert cli("models", "stop").status == 0
    assert listed(cli)["stopped"]
    assert cli("models", "stop").code == "unchanged"
    assert cli("models", "resume").status == 0
    assert cli("models", "resume").code == "unchanged"
    assert not listed(cli)["stopped"]
    with sqlite3.connect(".pokearena/arena.db") as database:
        actions = [row[0] for row in database.execute("SELECT action FROM audit_log")]
    assert {"models.stop", "models.resume"} <= set(actions)


@pytest.mark.long
def test_the_doctor_checks_the_models(
    cli: Cli, models_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def state() -> str:
        checks = cli("doctor", "--json").json["checks"]
        return next(str(check["state"]) for check in checks if check["name"] == "models")

    assert state() == "warn"
    monkeypatch.setenv("POKEARENA_TEST_KEY_OF_NOBODY", "x")
    assert state() == "ok"
    assert cli("models", "stop").status == 0
    assert state() == "warn"
    models_file.write_text("[models")
    assert state() == "fail"
    models_file.unlink()
    assert state() == "ok"
