"""Remote bots on the command line: tokens, addresses and the options of authors."""

import hashlib
import json
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.cli.options import token_from_environment
from arena.store import database
from tests.arena.cli.terminal import Cli


def stored_tokens(cwd: Path) -> str:
    """Return all stored tokens as text."""
    engine = database.open(f"sqlite:///{cwd}/.pokearena/arena.db")
    with database.reading(engine) as connection:
        rows = connection.execute(text("SELECT * FROM remotes")).all()
    engine.dispose()
    return str(rows)


def test_only_the_hash_of_a_remote_bot_token_is_stored(cli: Cli, cwd: Path) -> None:
    result = cli("bot", "add", "--remote", "far", "--owner", "ada")
    token = result.out.strip()
    assert result.status == 0
    assert "far@1" in result.err
    assert result.last.startswith("next  pokearena bot connect URL --token ")
    assert token not in stored_tokens(cwd)
    assert hashlib.sha256(token.encode()).hexdigest() in stored_tokens(cwd)
    [listed] = cli("bot", "list", "--json").documents
    assert (listed["version"], listed["owner"]) == ("far@1", "ada")
    assert (listed["remote"]["relayed"], listed["remote"]["here"]) == (True, False)
    assert "never seen" in cli("bot", "list").out


def test_a_changed_remote_bot_is_a_new_version_with_a_new_token(cli: Cli) -> None:
    first = cli("bot", "add", "--remote", "far", "--json").out
    second = cli("bot", "add", "--remote", "far", "--json").out
    documents = [json.loads(line) for line in (first, second)]
    assert [row["version"] for row in documents] == ["far@1", "far@2"]
    assert documents[0]["token"] != documents[1]["token"]


def test_a_token_can_be_renewed(cli: Cli, cwd: Path) -> None:
    old = cli("bot", "add", "--remote", "far").out.strip()
    new = cli("bot", "renew", "far@1").out.strip()
    assert hashlib.sha256(new.encode()).hexdigest() in stored_tokens(cwd)
    assert hashlib.sha256(old.encode()).hexdigest() not in stored_tokens(cwd)
    cli("bot", "add", "sample:meek")
    result = cli("bot", "renew", "meek@1")
    assert result.status == 2
    assert result.code == "no-token"


def test_a_remote_bot_with_an_address_has_no_token(cli: Cli, cwd: Path) -> None:
    result = cli("bot", "add", "--remote", "far", "--at", "grpc://10.0.0.5:7000")
    assert result.out == "far@1  10.0.0.5:7000\n"
    assert cli("bot", "add", "grpc://10.0.0.5:7000", "--name", "far").out == result.out
    assert "connected" in cli("bot", "list").out
    assert cli("bot", "renew", "far@1").status == 2


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("sample:meek", "--remote", "far"),
        ("--at", "grpc://10.0.0.5:7000"),
        ("--remote", "Far"),
        ("--remote", "far", "--at", "10.0.0.5"),
    ],
    ids=str,
)
def test_contradictory_bot_arguments_are_refused(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli("bot", "add", *words).status == 2


def test_a_bot_that_is_not_connected_cannot_be_played_with_here(cli: Cli) -> None:
    cli("bot", "add", "--remote", "far")
    result = cli("play", "poke", "far@1", "sample:meek")
    assert result.status == 3
    assert result.code == "never-connected"


@pytest.mark.long
def test_doctor_counts_offline_remote_bots(cli: Cli) -> None:
    cli("bot", "add", "--remote", "far")
    assert "0 of 1 bots are there" in cli("doctor").out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("ftp://h:1", "--token", "t", "sample:meek"), "not the address of a relay"),
        (("grpc://h", "--token", "t", "sample:meek"), "has no port"),
        (("grpc://h:x", "--token", "t", "sample:meek"), "is not a valid address"),
        (("grpc://h:1", "--token", "t", "no-such-program"), "no-such-program"),
        (("grpc://h:1", "--token", "t", "sample:nobody"), "nobody"),
        (("grpc://h:1", "sample:meek"), "--token"),
    ],
    ids=str,
)
def test_invalid_connect_arguments_are_reported(
    cli: Cli, words: tuple[str, ...], sentence: str
) -> None:
    result = cli("bot", "connect", *words)
    assert result.status == 2
    assert sentence in result.err


def test_a_relay_needs_an_address_and_both_files(cli: Cli, cwd: Path) -> None:
    assert cli("serve", "--relay", "here").code == "invalid-address"
    (cwd / "cert.pem").touch()
    result = cli("serve", "--relay", "127.0.0.1:0", "--relay-cert", "cert.pem")
    assert result.status == 2
    assert result.code == "option-combination"


def test_the_relay_address_must_be_reachable_for_workers(cli: Cli, cwd: Path) -> None:
    relay = ("serve", "--relay", "127.0.0.1:0", "--relay-workers")
    assert cli("serve", "--relay-workers", "10.0.0.5:7001").code == "option-combination"
    for wrong in ("here", "10.0.0.5:70010"):
        result = cli(*relay, wrong)
        assert (result.status, result.code) == (2, "invalid-address")
    for anywhere in ("0.0.0.0:7001", "[::]:7001"):
        result = cli(*relay, anywhere)
        assert (result.status, result.code) == (2, "unreachable-address")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("POKEARENA_RELAY", "here"),
        ("POKEARENA_RELAY_KEY", "key.pem"),
        ("POKEARENA_RELAY_WORKERS", "10.0.0.5:7001"),
        ("POKEARENA_RELAY_WAIT", "soon"),
        ("POKEARENA_METRICS", "here"),
    ],
)
def test_an_error_names_the_variable_that_contains_the_value(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    (cwd / "key.pem").touch()
    monkeypatch.setenv(variable, value)
    result = cli("serve")
    assert result.status == 2
    assert variable in result.err


def test_the_token_can_be_read_from_a_file_named_by_a_variable(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_TOKEN_FILE", str(cwd / "token"))
    result = cli("bot", "connect", "grpc://h:1", "sample:meek")
    assert result.status == 2
    assert f"POKEARENA_TOKEN_FILE names {cwd}/token, which cannot be read" in result.err
    (cwd / "token").write_text("word\n")
    assert token_from_environment() == "word"
