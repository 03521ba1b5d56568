"""Back up a store to one SQLite file, and restore such a file into an empty database.

The backup format is SQLite for every kind of database. A store that began in SQLite can therefore
move to PostgreSQL. A backup is one consistent state of the store, and the arena can keep running
while it is taken.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Table,
    create_engine,
    delete,
    exc,
    func,
    insert,
    select,
    text,
    update,
)

from arena import config
from arena.errors import Conflict, NotFound, StoreError
from arena.store import database, postgresql, schema
from arena.store.access.audit_log import BACKUP, COMMAND_LINE, AuditEntry, audited
from arena.store.bots.remote_bots import ALWAYS
from arena.store.database import HEAD, create_tables, reading, writing
from arena.store.schema import MatchState, ObjectState
from arena.store.stored_text import storable
from arena.system import output_file
from arena.system.temporary_folder import PREFIX, temporary_folder

OnProgress = Callable[[str, int, int], None]
"""Progress callback: receives the label of the copied data, the number done and the total."""

log = logging.getLogger("arena.store")

_DATED_NAMES: Final = f"pokearena-{'[0-9]' * 8}T{'[0-9]' * 6}Z.db"
_ROWS_AT_ONCE: Final = 500
# Each piece is up to 1 MiB, so only a few of them are loaded at a time.
_PIECES_AT_ONCE: Final = 10
_VERSION_TABLE: Final = "alembic_version"
_FOREIGN_KEYS: Final = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
"""
"""The table, name and definition of each foreign key of PostgreSQL."""


class BackupFailed(StoreError):
    """SQLite cannot copy the store to a backup file."""


def backup(engine: Engine, file: Path, report: OnProgress) -> int:
    """Write the store to a new file and return its size in bytes.

    The file appears under its name only when it is complete.

    Args:
        file: the path to create; it must not exist.

    Raises:
        Conflict: the file exists already.
        NotFound: the store does not exist.
        StoreError: this version of pokearena cannot read the store.
        BackupFailed: SQLite cannot write the file, for example because the disk is full, or cannot
            read the store.
        OSError: the file cannot be written; the error names it.
    """
    if file.exists():
        raise _file_exists(file)
    if not file.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(file))
    _check_version(engine)
    try:
        # The folder also receives SQLite's journal, which stays behind if the disk is full.
        with temporary_folder(file.parent) as folder:
            part = folder / "backup.db"
            part.touch(mode=0o600)
            if engine.dialect.name == "sqlite":
                _copy_file(engine, part)
            else:
                _copy_rows(engine, part, report)
            with part.open("rb") as written:
                os.fsync(written.fileno())
            # link() fails if the file exists, so one of two concurrent backups gets Conflict.
            os.link(part, file)
    except FileExistsError:
        raise _file_exists(file) from None
    except OSError as error:
        raise output_file.named(error, file) from None
    except (sqlite3.Error, exc.DBAPIError) as error:
        reason = getattr(error, "orig", error)
        if not isinstance(reason, sqlite3.Error):
            raise
        raise BackupFailed(
            f"cannot back up {database.public_url(engine)} to {file}: {reason}."
            " Nothing was left behind."
        ) from None
    _note(engine, file)
    return file.stat().st_size


def dated_name() -> str:
    """Return the file name of a backup in a folder of backups: names sort by their time."""
    return f"pokearena-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.db"


def delete_older(folder: Path, keep: int) -> list[Path]:
    """Delete all backups of a folder that have a `dated_name`, except the newest; return them.

    Raises:
        OSError: a file cannot be deleted.
    """
    older = sorted(folder.glob(_DATED_NAMES))[:-keep]
    for file in older:
        file.unlink()
    return older


def _note(engine: Engine, file: Path) -> None:
    """Record the backup, whose age the metrics report, if the store can be written."""
    if database.version(engine) != HEAD:
        return
    entry = AuditEntry(COMMAND_LINE, BACKUP, file.name, details={"bytes": file.stat().st_size})
    try:
        with audited(engine, entry):
            pass
    except exc.DBAPIError as error:
        log.warning("the backup %s is complete, but cannot be noted: %s", file, error.orig)


def restore(engine: Engine, file: Path, report: OnProgress) -> int:
    """Fill an empty database from a backup and return the number of rows copied.

    The restore is one transaction: all rows are stored, or none. Matches that were being played
    become due again, because no worker of this database holds them. Their committed games are kept.

    Raises:
        NotFound: the file does not exist.
        Conflict: the database is not empty.
        StoreError: the file is not a backup, or a newer pokearena wrote it.
    """
    if not file.is_file():
        raise NotFound(f"the file {file} does not exist.", code="no-file")
    with _readable(file) as backup_engine:
        if database.version(engine) is None:
            database.upgrade(engine)
        elif database.version(engine) != HEAD:
            raise Conflict(_not_empty(engine), code="not-empty")
        with reading(backup_engine) as source, writing(engine, "restore") as target:
            postgresql.lock_decision(target, "restore")
            if any(target.execute(select(table).limit(1)).first() for table in _tables()):
                raise Conflict(_not_empty(engine), code="not-empty")
            with _bare_tables(target):
                rows = _copy(source, target, report)
            _discard_activity(target)
    return rows


@contextmanager
def _bare_tables(connection: Connection) -> Iterator[None]:
    """Remove indices and foreign keys from PostgreSQL's tables, and create them again at the end.

    Updating and checking them with each row would take several times as long.
    """
    if connection.dialect.name != "postgresql":
        yield
        return
    indices = [index for table in _tables() for index in table.indexes]
    references = connection.execute(text(_FOREIGN_KEYS)).all()
    for index in indices:
        index.drop(connection)
    for table, name, _ in references:
        connection.execute(text(f"ALTER TABLE {table} DROP CONSTRAINT {name}"))
    yield
    for index in indices:
        index.create(connection)
    for table, name, definition in references:
        connection.execute(text(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"))
    # Otherwise the first queries would be planned without any knowledge of the tables.
    connection.execute(text("ANALYZE"))


def _tables() -> list[Table]:
    """Return all tables, each one after the tables that it references."""
    return schema.metadata.sorted_tables


def _not_empty(engine: Engine) -> str:
    return (
        f"the database {database.public_url(engine)} is not empty; a backup is restored into an "
        "empty one. Name another by --data or POKEARENA_DATABASE_URL."
    )


def _check_version(engine: Engine) -> None:
    version = database.version(engine)
    if version is None:
        raise NotFound(
            f"the database {database.public_url(engine)} is empty; there is nothing to back up.",
            code="no-store",
        )
    # An SQLite file is copied byte by byte, so its version does not matter.
    if version != HEAD and engine.dialect.name != "sqlite":
        raise StoreError(
            f"the database {database.public_url(engine)} is at version {version}, and this "
            f"pokearena is for {HEAD}: back it up with the pokearena that works on it.",
            code="other-version",
        )


def _copy_file(engine: Engine, part: Path) -> None:
    # backup() copies all pages in one step. Writers continue: in WAL mode a reader does not block
    # them.
    with closing(sqlite3.connect(part)) as output, engine.connect() as connection:
        source: Any = connection.connection.driver_connection
        source.backup(output)
        # Leave one file, without a write-ahead log beside it.
        output.execute("PRAGMA journal_mode = DELETE")


def _copy_rows(engine: Engine, part: Path, report: OnProgress) -> None:
    output = create_engine(URL.create("sqlite", database=str(part)))
    with reading(engine) as source, output.begin() as target:
        create_tables(target)
        _copy(source, target, report)
    output.dispose()


def _file_exists(file: Path) -> Conflict:
    return Conflict(
        f"{file} exists already; backups do not overwrite existing files. Choose another name.",
        code="file-exists",
    )


def _copy(source: Connection, target: Connection, report: OnProgress) -> int:
    """Copy the rows of all tables; return their number."""
    done = 0
    count = sum(
        source.execute(select(func.count()).select_from(table)).scalar_one() for table in _tables()
    )
    copy_table = _copy_into_postgresql if target.dialect.name == "postgresql" else _insert
    for table in _tables():
        at_once = _PIECES_AT_ONCE if table is schema.crate_pieces else _ROWS_AT_ONCE
        for number in copy_table(source, target, table, at_once):
            done += number
            report(f"rows ({table.name})", done, count)
    return done


def _insert(source: Connection, target: Connection, table: Table, at_once: int) -> Iterator[int]:
    """Copy a table; yield the number of rows of each step."""
    query = select(table).execution_options(yield_per=at_once)
    with source.execute(query) as rows:
        for partition in rows.partitions():
            target.execute(insert(table), [dict(row._mapping) for row in partition])
            yield len(partition)


def _copy_into_postgresql(
    source: Connection, target: Connection, table: Table, at_once: int
) -> Iterator[int]:
    """Copy a table from SQLite with COPY, which is faster; yield the number of rows of each step.

    The values are copied as SQLite stores them, so JSON stays text.
    """
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    sqlite_connection: Any = source.connection.driver_connection
    postgresql_connection: Any = target.connection.driver_connection
    rows = sqlite_connection.execute(f"SELECT {columns} FROM {table.name}")
    statement = f"COPY {table.name} ({columns}) FROM STDIN"
    try:
        with postgresql_connection.cursor() as cursor, cursor.copy(statement) as copy:
            while partition := rows.fetchmany(at_once):
                for row in partition:
                    copy.write_row([_storable(value) for value in row])
                yield len(partition)
    except postgresql_connection.Error as error:
        raise exc.DBAPIError(statement, None, error) from error


def _storable(value: object) -> object:
    # SQLite files of earlier versions can contain NUL.
    return storable(value) if isinstance(value, str) else value


def _discard_activity(connection: Connection) -> None:
    """Release leases, mark remote bots as absent, and delete rows of unfinished objects."""
    matches, remotes = schema.matches, schema.remotes
    connection.execute(
        update(matches)
        .where(matches.c.state == MatchState.RUNNING)
        .values(state=MatchState.PENDING, owner=None, lease_until=None, retry_at=None)
    )
    connection.execute(update(remotes).where(remotes.c.until < ALWAYS).values(until=0.0))
    # The arena of the backup may have settled these objects since.
    objects = schema.stored_objects
    connection.execute(delete(objects).where(objects.c.state != ObjectState.STORED))


def _opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)


@contextmanager
def _readable(file: Path) -> Iterator[Engine]:
    """Open a backup; an older one is upgraded in a temporary copy, so the file does not change."""
    try:
        with closing(_opened(file)) as connection:
            version = connection.execute(f"SELECT version_num FROM {_VERSION_TABLE}").fetchone()[0]
    except (sqlite3.DatabaseError, TypeError):
        raise StoreError(
            f"{file} is not a backup of an arena; `pokearena db backup FILE` makes one.",
            code="not-a-backup",
        ) from None
    with ExitStack() as stack:
        if version == HEAD:
            source = create_engine("sqlite://", creator=lambda: _opened(file))
        else:
            base = Path(tempfile.gettempdir())
            copy = stack.enter_context(temporary_folder(base, PREFIX)) / "backup.db"
            shutil.copyfile(file, copy)
            source = database.open(config.sqlite_url(copy))
        stack.callback(source.dispose)
        if version != HEAD:
            # Nobody plays on the copy, whose leases may seem valid.
            database.upgrade(source, wait_seconds=None)
        try:
            yield source
        except exc.DatabaseError as error:
            if isinstance(error.orig, sqlite3.DatabaseError) and "malformed" in str(error.orig):
                raise StoreError(
                    f"the backup {file} is damaged: {error.orig}.", code="damaged"
                ) from None
            raise
