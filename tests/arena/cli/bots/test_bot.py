"""Versions of bots: `pokearena bot`."""

import sqlite3
from pathlib import Path

import pytest

from arena.errors import Conflict
from tests.arena.cli.terminal import Cli


def test_a_bot_without_a_version_gets_the_next_number_when_its_content_changes(
    cli: Cli, bot_folder: Path
) -> None:
    assert cli("bot", "add", "mine").out.startswith("mine@1  ")
    assert cli("bot", "add", "mine").out.startswith("mine@1  ")
    (bot_folder / "bot.py").write_text("import sys\n")
    assert cli("bot", "add", "mine").out.startswith("mine@2  ")
    (bot_folder / "bot.py").write_text("pass\n")
    assert cli("bot", "add", "./mine").out.startswith("mine@1  ")


def test_a_version_never_changes(cli: Cli, bot_folder: Path) -> None:
    toml = bot_folder / "bot.toml"
    toml.write_text(toml.read_text() + 'version = "1.0"\n')
    assert cli("bot", "add", "mine").out.startswith("mine@1.0  ")
    (bot_folder / "bot.py").write_text("import sys\n")
    result = cli("bot", "add", "mine")
    assert result.status == 1
    assert isinstance(result.error, Conflict)
    assert cli("bot", "add", "mine", "--version", "1.1").out.startswith("mine@1.1  ")


def test_a_remote_bot_needs_a_name(cli: Cli) -> None:
    result = cli("bot", "add", "grpc://127.0.0.1:7000")
    assert result.status == 2
    assert result.code == "name-required"
    for _ in range(2):
        assert cli("bot", "add", "grpc://127.0.0.1:7000", "--name", "far").out.startswith("far@1  ")
    assert cli("bot", "add", "grpc://127.0.0.1:7001", "--name", "far").out.startswith("far@2  ")
    assert cli("bot", "add", "grpc://127.0.0.1:7001", "--name", "No").status == 2
    assert cli("bot", "add", "far").out.startswith("far@2  ")
    assert cli("bot", "add", "far@1").out.startswith("far@1  ")


def test_a_retired_version_is_listed_only_on_request(cli: Cli, bot_folder: Path) -> None:
    cli("bot", "add", "mine")
    cli("bot", "add", "sample:meek")
    assert "mine@1" in cli("bot", "list").out
    result = cli("bot", "retire", "mine@1")
    assert result.out.startswith("mine@1 is retired")
    assert "mine@1" not in cli("bot", "list").out
    assert "meek@1" in cli("bot", "list").out
    assert "retired" in cli("bot", "list", "--all").out
    documents = cli("bot", "list", "--all", "--json").documents
    assert [(row["version"], row["retired"] is None) for row in documents] == [
        ("meek@1", True),
        ("mine@1", False),
    ]


@pytest.mark.long
def test_release_ends_the_quarantine_of_a_version(cli: Cli) -> None:
    cli("bot", "add", "sample:meek")
    refused = cli("bot", "release", "meek@1", "--reason", "a test")
    assert refused.status == 1
    assert refused.code == "not-in-quarantine"
    with sqlite3.connect(".pokearena/arena.db") as store:
        store.execute("UPDATE versions SET quarantined = 1, quarantine_reason = 'It broke.'")
    store.close()
    assert "in quarantine 1970" in cli("bot", "list").out
    assert "It broke." in cli("bot", "show", "meek@1").out
    document = cli("bot", "list", "--json").json
    assert document["quarantine_reason"] == "It broke."
    entered = cli("tournament", "run", "poke", "meek@1", "sample:random")
    assert entered.status == 1
    assert entered.code == "in-quarantine"
    assert cli("bot", "release", "meek@1", "--reason", "a test").status == 0
    assert "quarantine" not in cli("bot", "list").out


def test_show_describes_a_version(cli: Cli) -> None:
    cli("bot", "add", "sample:greedy")
    document = cli("bot", "show", "greedy", "--json").json
    assert document["version"] == "greedy@1"
    assert len(document["content_hash"]) == 64
    assert document["manifest"]["run"] == ["python", "bot.py"]
    assert document["standings"] == {}
    shown = cli("bot", "show", "greedy@1").out
    assert document["content_hash"] in shown
    assert "python bot.py" in shown


def test_an_unknown_bot_suggests_the_nearest_name(cli: Cli) -> None:
    cli("bot", "add", "sample:greedy")
    for label in ("gredy", "greedy@7"):
        result = cli("bot", "show", label)
        assert result.status == 2
        assert 'did you mean "greedy' in result.err


def test_a_bot_that_does_not_build_is_not_added(cli: Cli, bot_folder: Path) -> None:
    toml = bot_folder / "bot.toml"
    command = '["python", "-c", "import nothing_of_this_name"]'
    toml.write_text(toml.read_text() + f"build = {command}\n")
    result = cli("bot", "add", "mine")
    assert result.status == 1
    assert result.code == "build-failed"
    assert "nothing_of_this_name" in result.err
    assert cli("bot", "list").out.splitlines()[1:] == []


def test_read_commands_create_no_data_folder(cli: Cli) -> None:
    for words in (("bot", "list"), ("bot", "show", "x"), ("standings",), ("tournament", "list")):
        result = cli(*words, "--data", "nowhere")
        assert result.status == 1
        assert result.code == "no-arena"
        assert result.last == "next  pokearena demo --data nowhere"
    assert not Path("nowhere").exists()


def test_a_database_that_cannot_be_opened_cannot_be_reached(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("folder").mkdir()
    monkeypatch.setenv("POKEARENA_DATABASE_URL", f"sqlite:///{Path('folder').absolute()}")
    result = cli("bot", "list")
    assert result.status == 3
    assert result.code == "cannot-connect"


def test_a_bot_has_one_owner(cli: Cli, bot_folder: Path) -> None:
    document = cli("bot", "add", "mine", "--owner", "ada", "--json").json
    assert document["owner"] == "ada"
    assert "ada" in cli("bot", "list").out
    assert cli("bot", "add", "mine", "--json").json["owner"] == "ada"
    result = cli("bot", "add", "mine", "--owner", "bob")
    assert result.status == 1
    assert isinstance(result.error, Conflict)
