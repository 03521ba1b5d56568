"""Backups: one consistent state in one file, and its restoration into either database."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, select, text

from arena.errors import Conflict, NotFound, StoreError
from arena.store import backup_file, consistency, database, schema
from arena.store.access import audit_log
from arena.store.bots import remote_bots, stored_builds, versions
from arena.store.matches import listing, match_leases, results
from arena.store.schema import MatchState
from arena.store.tournaments.tournaments import Tournament
from tests.arena.store.played_matches import commit, leased
from tests.errors import has_code

Schedule = Callable[..., Tournament]
Empty = Callable[[str], str]
TARGETS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)]


def quiet(what: str, done: int, of: int) -> None:
    """Ignore the progress."""


def rows(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    with database.reading(engine) as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in schema.metadata.sorted_tables
        }


def create_running_match(store: Engine, schedule: Schedule, tmp_path: Path) -> str:
    """Store a closed match, a running one, a bot's files and an owner with a non-ASCII name.

    Returns:
        The running match.
    """
    schedule(2, cycles=2, seed=bytes(32))
    done, playing = match_leases.due(store)
    for match in (done, playing):
        lease = leased(store, match)
        commit(store, lease, 0, fault="timeout")
        if match == done:
            commit(store, lease, 1)
    parcel = tmp_path / "parcel"
    parcel.write_bytes(bytes(range(256)) * 5000)
    with parcel.open("rb") as packed:
        stored_builds.keep_build(store, "c" * 64, packed, trusted=True)
    versions.add_version(store, "near", "1", "e" * 64, "", {"authors": ["Zoë"]}, "Ødegård")
    remote_bots.add_relayed(store, "far", "1")
    remote_bots.record_connected(store, "far@1", "desk", 3)
    return playing


@pytest.mark.parametrize("target", TARGETS)
def test_a_backup_restores_all_data(
    store: Engine, schedule: Schedule, empty: Empty, tmp_path: Path, target: str
) -> None:
    playing = create_running_match(store, schedule, tmp_path)
    file = tmp_path / "kept?.db"
    assert backup_file.backup(store, file, quiet) == file.stat().st_size
    assert [path.name for path in tmp_path.glob("*kept*")] == ["kept?.db"]
    # Changes after the backup are not in it.
    versions.add_version(store, "later", "1", "d" * 64, "/later", {})
    other = database.open(empty(target))
    assert backup_file.restore(other, file, quiet) == sum(map(len, rows(other).values()))
    assert list(consistency.problems(other, quiet)) == []
    with other.connect() as connection:
        # Indices and foreign keys that were removed for the copy are back.
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, schema.metadata) == []
    before, after = rows(store), rows(other)
    for settled in ("bots", "versions", "closings"):
        before[settled] = [
            row for row in before[settled] if "later@1" not in row and "later" not in row
        ]
    # The backup is noted when it is complete.
    assert [row[5] for row in before["audit_log"]] == [audit_log.BACKUP]
    for settled in ("matches", "remotes", "audit_log"):
        before.pop(settled)
        after.pop(settled)
    assert after == before
    # The worker that played it during the backup continues in the original arena.
    lease = match_leases.lease(other, playing, "another")
    assert lease is not None
    assert (lease.attempt, [game.game for game in lease.committed]) == (2, [0])
    assert listing.find_match(other, playing).failures == 0
    assert commit(other, lease, 1) is True
    assert len(list(results.closed(other))) == 2
    # No bot is connected either.
    assert not remote_bots.list_remote_bots(other)["far@1"].is_connected
    other.dispose()


def test_a_failed_backup_leaves_no_file_and_overwrites_none(store: Engine, tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    file.write_text("precious")
    with pytest.raises(Conflict, check=has_code("file-exists")):
        backup_file.backup(store, file, quiet)
    assert file.read_text() == "precious"
    with pytest.raises(FileNotFoundError):
        backup_file.backup(store, tmp_path / "nowhere" / "kept.db", quiet)
    assert [path.name for path in tmp_path.iterdir() if "kept" in path.name] == ["kept.db"]


def test_a_database_without_a_store_has_nothing_to_back_up(url: str, tmp_path: Path) -> None:
    engine = database.open(url)
    with pytest.raises(NotFound, check=has_code("no-store")):
        backup_file.backup(engine, tmp_path / "kept.db", quiet)
    engine.dispose()


def test_a_restore_into_a_nonempty_database_is_refused(
    store: Engine, schedule: Schedule, tmp_path: Path
) -> None:
    schedule()
    file = tmp_path / "kept.db"
    backup_file.backup(store, file, quiet)
    before = rows(store)
    with pytest.raises(Conflict, check=has_code("not-empty")):
        backup_file.restore(store, file, quiet)
    assert rows(store) == before


def test_a_failed_restore_leaves_an_empty_database(
    store: Engine, schedule: Schedule, empty: Empty, url: str, tmp_path: Path
) -> None:
    schedule()
    file = tmp_path / "kept.db"
    backup_file.backup(store, file, quiet)

    def fail(what: str, done: int, of: int) -> None:
        if "matches" in what:
            raise InterruptedError

    other = database.open(empty(url.partition(":")[0]))
    with pytest.raises(InterruptedError):
        backup_file.restore(other, file, fail)
    assert not any(rows(other).values())
    backup_file.restore(other, file, quiet)
    assert len(match_leases.due(other)) == 1
    other.dispose()


def test_a_file_that_is_not_a_backup_is_refused(url: str, tmp_path: Path) -> None:
    engine = database.open(url)
    (tmp_path / "letter").write_text("dear aunt " * 200)
    with closing_table(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE alembic_version (version_num TEXT)")
    for name in ("letter", "other.db"):
        with pytest.raises(StoreError, check=has_code("not-a-backup")):
            backup_file.restore(engine, tmp_path / name, quiet)
    with pytest.raises(NotFound, check=has_code("no-file")):
        backup_file.restore(engine, tmp_path / "nothing", quiet)
    assert database.version(engine) is None
    engine.dispose()


def test_a_backup_of_a_newer_pokearena_is_refused(store: Engine, url: str, tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    backup_file.backup(store, file, quiet)
    with closing_table(file) as newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, check=has_code("newer-version")):
        backup_file.restore(store, file, quiet)


def test_a_postgresql_database_of_another_version_is_not_backed_up(
    store: Engine, tmp_path: Path
) -> None:
    with database.writing(store) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0009'"))
    if store.dialect.name == "sqlite":
        assert backup_file.backup(store, tmp_path / "kept.db", quiet) > 0
    else:
        with pytest.raises(StoreError, check=has_code("other-version")):
            backup_file.backup(store, tmp_path / "kept.db", quiet)


class closing_table:  # noqa: N801 - it reads like contextlib's
    """Open an SQLite file; commit and close it at the end of the block."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite3.connect(file)

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, *failure: object) -> None:
        self._connection.commit()
        self._connection.close()


def test_a_match_closes_once_after_a_restoration_too(
    store: Engine, schedule: Schedule, empty: Empty, url: str, tmp_path: Path
) -> None:
    create_running_match(store, schedule, tmp_path)
    file = tmp_path / "kept.db"
    backup_file.backup(store, file, quiet)
    other = database.open(empty(url.partition(":")[0]))
    backup_file.restore(other, file, quiet)
    states = {match.state for match in listing.matches(other)}
    assert states == {MatchState.CLOSED, MatchState.PENDING}
    other.dispose()
