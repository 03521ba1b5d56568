"""`pokearena db`: upgrade, backup, restore and check, with text and JSON output."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.cli.errors import FAILED, OK, UNREACHABLE, USAGE
from arena.cli.output import ProgressLine
from arena.cli.services import db
from arena.cli.workspace import Workspace
from arena.store import database
from tests.arena.cli.terminal import Cli
from tests.full_disk import full_disk_beside


def test_upgrading_twice_changes_nothing(cli: Cli) -> None:
    made = cli("db", "upgrade")
    assert made.status == OK
    assert database.HEAD in made.out
    assert database.HEAD in cli("db", "upgrade").out
    document = cli("db", "upgrade", "--json").json
    assert (document["from"], document["to"]) == (database.HEAD, database.HEAD)


def test_a_backup_is_restored_into_another_folder_and_checked(cli: Cli, cwd: Path) -> None:
    cli("owner", "add", "ada")
    kept = cli("db", "backup", "kept.db", "--json").json
    assert kept["bytes"] == (cwd / "kept.db").stat().st_size
    result = cli("db", "restore", "kept.db", "--data", "restored")
    assert (result.status, result.last) == (OK, "next  pokearena db check --data restored")
    assert "rows from kept.db" in result.out
    assert "ada" in cli("owner", "list", "--data", "restored").out
    assert "is sound" in cli("db", "check", "--data", "restored").out
    checked = cli("db", "check", "--data", "restored", "--json").json
    assert (checked["sound"], checked["problems"]) == (True, [])


def test_a_folder_keeps_its_newest_backups_and_all_other_files(cli: Cli, cwd: Path) -> None:
    cli("db", "upgrade")
    folder = cwd / "backups"
    folder.mkdir()
    dated = [folder / f"pokearena-2026010{day}T031700Z.db" for day in range(1, 4)]
    others = [folder / "friday.db", folder / "pokearena-before-the-upgrade.db"]
    for file in (*dated, *others):
        file.touch()
    written = cli("db", "backup", "backups", "--keep", "2", "--json").json
    assert written["deleted"] == 2
    assert set(folder.iterdir()) == {dated[-1], *others, cwd / written["file"]}
    # A failed backup deletes nothing.
    assert cli("db", "backup", "missing", "--keep", "1").status != 0
    assert len(list(folder.iterdir())) == 4


def test_a_backup_to_a_full_disk_leaves_no_file(cli: Cli, cwd: Path) -> None:
    cli("db", "upgrade")
    with full_disk_beside(cwd / ".pokearena" / "arena.db"):
        result = cli("db", "backup", "kept.db")
    assert (result.status, result.code, result.out) == (FAILED, "BackupFailed", "")
    assert len(result.err.splitlines()) == 1
    assert str(cwd / "kept.db") in result.err
    assert [path.name for path in cwd.iterdir()] == [".pokearena"]


def test_check_fails_on_problems_and_prints_them(cli: Cli, cwd: Path) -> None:
    cli("db", "upgrade")
    with closing(sqlite3.connect(cwd / ".pokearena" / "arena.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
        connection.commit()
    result = cli("db", "check")
    assert result.status == FAILED
    assert "the database is at schema version 0001" in result.out
    assert "the database is not sound: 1 problem." in result.err
    assert cli("db", "check", "--json").json["sound"] is False


@pytest.mark.parametrize("words", [("db", "check"), ("db", "check", "--quick"), ("bot", "list")])
def test_a_database_of_a_newer_release_is_refused(
    cli: Cli, cwd: Path, words: tuple[str, ...]
) -> None:
    cli("db", "upgrade")
    with closing(sqlite3.connect(cwd / ".pokearena" / "arena.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    result = cli(*words)
    assert (result.status, result.out) == (FAILED, "")
    assert "by a newer pokearena" in result.err


def test_check_of_an_empty_database_suggests_upgrade(cli: Cli, cwd: Path) -> None:
    cli("db", "upgrade")
    file = cwd / ".pokearena" / "arena.db"
    file.write_bytes(b"")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 1")
    result = cli("db", "check")
    assert result.status == FAILED
    assert "the database has no tables" in result.out
    assert "Run `pokearena db upgrade`" in result.out


@pytest.mark.parametrize("address", ["quark", "mysql://host/arena", "sqlite://"])
def test_an_invalid_database_address_is_a_usage_error(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("POKEARENA_DATABASE_URL", address)
    assert cli("db", "upgrade").status == USAGE


def test_backup_and_check_without_an_arena_are_refused(cli: Cli, cwd: Path) -> None:
    for words in (("backup", "kept.db"), ("check",)):
        result = cli("db", *words)
        assert result.status == FAILED
        assert result.code == "no-arena"
    assert list(cwd.iterdir()) == []


def test_the_error_of_an_unreachable_server_hides_its_password(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_DATABASE_URL", "postgresql://me:secret@127.0.0.1:1/arena")
    result = cli("db", "upgrade")
    assert result.status == UNREACHABLE
    assert "me:***@127.0.0.1:1/arena " in result.err
    assert "secret" not in result.out + result.err


def execute(cwd: Path, statement: str) -> str:
    """Execute a statement in the database; return the first closed match."""
    with closing(sqlite3.connect(cwd / ".pokearena" / "arena.db")) as connection:
        match = str(connection.execute("SELECT min(match) FROM results").fetchone()[0])
        connection.execute(statement, {"match": match})
        connection.commit()
    return match


def test_check_replays_a_sound_database(cli: Cli, tournament: str) -> None:
    assert cli("db", "check").status == OK
    checked = cli("db", "check", "--json").json
    assert (checked["sound"], checked["quick"], checked["problems"]) == (True, False, [])
    assert (checked["matches"], checked["games"]) == (3, 6)
    assert checked["actions"] > 6
    quick = cli("db", "check", "--quick", "--json").json
    assert (quick["sound"], quick["quick"], quick["games"]) == (True, True, 0)


def test_check_finds_an_empty_record_unless_quick(cli: Cli, tournament: str, cwd: Path) -> None:
    match = execute(cwd, "UPDATE games SET record = '' WHERE match = :match AND game = 0")
    assert cli("db", "check", "--quick").status == OK
    checked = cli("db", "check")
    assert checked.status == FAILED
    assert match in checked.out
    report = cli("db", "check", "--json").json
    assert (report["sound"], report["damaged"], report["repairable"]) == (False, [match], [])
    assert report["next"] is None


def test_check_finds_altered_results_and_suggests_rebuild(
    cli: Cli, tournament: str, cwd: Path
) -> None:
    match = execute(
        cwd,
        "UPDATE games SET verdicts = replace(verdicts, 'finished', 'timeout') WHERE match = :match",
    )
    checked = cli("db", "check")
    assert checked.status == FAILED
    assert match in checked.out
    assert checked.last == "next  pokearena ladder rebuild"
    report = cli("db", "check", "--json").json
    assert (report["damaged"], report["repairable"]) == ([], [match])
    verified = cli("tournament", "verify", tournament)
    assert verified.status == FAILED
    assert match in verified.out
    assert cli("ladder", "rebuild").status == OK
    assert cli("db", "check").status == OK
    assert cli("tournament", "verify", tournament).status == OK


def test_an_interrupted_check_is_continued_after_its_last_match(
    cli: Cli, tournament: str, cwd: Path
) -> None:
    match = execute(cwd, "UPDATE games SET record = '' WHERE match = :match AND game = 0")

    class Interrupting(ProgressLine):
        def __call__(self, what: str, done: int, of: int) -> None:
            if (what, done) == ("matches checked", 2):
                raise KeyboardInterrupt

    report = db.run(Workspace(None).existing_store, Interrupting())
    assert report.matches == 2
    assert report.command == f"pokearena db check --after {report.interrupted_after}"
    assert report.summary.startswith("the check was interrupted after 2 matches")
    last = cli("db", "check", "--json", "--after", report.interrupted_after).json
    assert last["matches"] == 1
    assert set(report.damaged) | set(last["damaged"]) == {match}
    assert cli("db", "check", "--quick", "--after", match).status == USAGE
    unknown = cli("db", "check", "--after", "m-nosuch")
    assert (unknown.status, unknown.code) == (USAGE, "unknown-match")


def marked(statement: str) -> Any:
    """Move the case of a statement to the long suite."""
    return pytest.param(statement, marks=pytest.mark.long)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE games SET scores = '[1,-1]' WHERE match = :match AND game = 0",
        marked("UPDATE games SET places = '[3,3]' WHERE match = :match AND game = 0"),
        marked("UPDATE games SET verdicts = 'garbage' WHERE match = :match"),
        marked("UPDATE games SET thinking = CAST(x'ff' AS TEXT) WHERE match = :match"),
        "DELETE FROM results WHERE match = :match",
        "UPDATE games SET record = CAST(x'ff' AS TEXT) WHERE match = :match",
    ],
)
def test_tournament_verify_finds_altered_results(
    cli: Cli, tournament: str, cwd: Path, statement: str
) -> None:
    assert cli("tournament", "verify", tournament).status == OK
    match = execute(cwd, statement)
    verified = cli("tournament", "verify", tournament)
    assert verified.status == FAILED
    assert match in verified.out + verified.err
    checked = cli("db", "check", "--json").json
    assert [*checked["damaged"], *checked["repairable"]] == [match]


def test_files_move_to_object_storage_and_back(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_OBJECT_STORAGE_URL", f"file://{cwd}/objects")
    cli("bot", "add", "sample:meek")
    assert len([path for path in (cwd / "objects").rglob("*") if path.is_file()]) == 1
    moved = cli("db", "move-files", "database")
    assert (moved.status, moved.last) == (OK, "next  pokearena db check")
    assert "moved 1 build and the records of 0 matches to the database" in moved.out
    assert [path for path in (cwd / "objects").rglob("*") if path.is_file()] == []
    document = cli("db", "move-files", "objects", "--json").json
    assert document == {
        "target": "objects",
        "storage": f"file://{cwd}/objects",
        "builds": 1,
        "matches": 0,
        "deleted": 0,
    }
    assert cli("db", "check").status == OK


def test_unknown_objects_are_deleted_on_request(
    cli: Cli, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_OBJECT_STORAGE_URL", f"file://{cwd}/objects")
    cli("bot", "add", "sample:meek")
    (cwd / "objects" / "left").touch()
    assert cli("db", "sweep-objects", "--json").json["deleted"] == 0
    result = cli("db", "sweep-objects", "--unknown")
    assert "1 object unknown to the database; --yes deletes them" in result.out
    assert (cwd / "objects" / "left").exists()
    assert "deleted 1 object in" in cli("db", "sweep-objects", "--unknown", "--yes").out
    assert not (cwd / "objects" / "left").exists()
    assert cli("db", "check").status == OK


def test_files_do_not_move_without_object_storage(cli: Cli) -> None:
    cli("db", "upgrade")
    result = cli("db", "move-files", "objects")
    assert (result.status, result.code) == (FAILED, "not-configured")
    assert "POKEARENA_OBJECT_STORAGE_URL" in result.err
