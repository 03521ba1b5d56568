"""`pokearena worker`: its errors have the format of all commands."""

import re
import sqlite3
from pathlib import Path

import pytest

from arena.cli.errors import USAGE
from tests.arena.cli.terminal import Cli


@pytest.mark.parametrize("words", [("worker",), ("worker", "--check")])
def test_a_worker_without_services_cannot_reach_them(cli: Cli, words: tuple[str, ...]) -> None:
    value = cli(*words)
    assert (value.status, value.out) == (3, "")
    assert re.match("error  no .*services run for .*\\.$", value.err.splitlines()[0])
    assert ("pokearena serve" in value.err) == (words == ("worker",))


@pytest.mark.parametrize(
    "words", [("worker",), ("worker", "--check"), ("metrics",), ("serve", "--no-web")]
)
def test_a_redis_url_of_another_scheme_is_bad_input(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    cli("bot", "add", "sample:meek")
    monkeypatch.setenv("POKEARENA_REDIS_URL", "http://:secret@127.0.0.1:6379")
    value = cli(*words)
    assert value.status == 2
    assert value.err.startswith("error  POKEARENA_REDIS_URL ")
    assert "secret" not in value.err


def test_an_unreachable_database_is_reported_before_any_worker_starts(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_DATABASE_URL", "postgresql://me:secret@127.0.0.1:1/arena")
    value = cli("worker")
    assert value.status == 3
    assert value.err.startswith(
        "error  the database postgresql+psycopg://me:***@127.0.0.1:1/arena "
    )
    assert "secret" not in value.err
    assert list(cwd.iterdir()) == []


@pytest.mark.parametrize(
    "command", [("worker",), ("serve", "--port", "0")], ids=["worker", "serve"]
)
def test_a_data_folder_of_a_newer_release_is_refused(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("POKEARENA_DATA", str(cwd / "data"))
    assert cli("db", "upgrade").status == 0
    with sqlite3.connect(cwd / "data" / "arena.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
    value = cli(*command)
    assert value.status == 1
    assert value.code == "newer-version"


def test_a_database_set_twice_is_bad_input(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cwd / "named").write_text(f"sqlite:///{cwd}/one.db")
    monkeypatch.setenv("POKEARENA_DATABASE_URL", f"sqlite:///{cwd}/two.db")
    monkeypatch.setenv("POKEARENA_DATABASE_URL_FILE", str(cwd / "named"))
    for command in ("standings", "metrics"):
        value = cli(command)
        assert value.status == 2
        assert value.err.startswith(
            "error  POKEARENA_DATABASE_URL and POKEARENA_DATABASE_URL_FILE are both set"
        )
    assert cli("doctor").status == 1
    assert sorted(path.name for path in cwd.iterdir()) == ["named"]


@pytest.mark.parametrize(
    ("name", "value", "end"),
    [
        ("POKEARENA_WATCH_MS", "soon", "0 publishes no positions."),
        ("POKEARENA_VERSIONS_MIB", "-1", "(MiB), 10,240 if unset."),
    ],
)
def test_a_setting_that_is_not_a_number_is_bad_input(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, value: str, end: str
) -> None:
    monkeypatch.setenv(name, value)
    result = cli("worker")
    assert result.status == 2
    assert result.err.startswith(f"error  {name} ")
    assert result.err.endswith(f"{end}\n")


@pytest.mark.parametrize("address", ["here", "127.0.0.1", "127.0.0.1:70000"])
def test_an_invalid_address_of_a_referee_is_refused(cli: Cli, address: str) -> None:
    result = cli("referee", "--address", address)
    assert (result.status, result.code) == (USAGE, "invalid-address")
