"""Configure SQLite: connection settings, the single writer, and a clock."""

from __future__ import annotations

import contextlib
import glob
import os
import random
import secrets
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, event

from arena.errors import Unreachable
from arena.system import private_files

if TYPE_CHECKING:
    from sqlalchemy.pool import ConnectionPoolEntry


# The clock of an SQLite store: the same for all processes, whatever happens to the wall clock.
#
# SQLite uses the clock of the process that runs the statement. If the wall clock were set, or if
# processes saw different times, leases would lapse too early or too late. Therefore:
#
# 1. The first process after a boot computes the difference of wall clock and uptime.
# 2. It stores the difference in a file beside the database.
# 3. From then on the store's time is the uptime plus this difference.

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_CLOCK_SUFFIX: Final = "-clock-"
CLOCK: Final = "arena_now"
"""The SQL function that returns the time of an SQLite store."""
# NORMAL already survives a killed process, but a power failure would undo committed games.
# A bot could then replay them. A closed match could be open again after its seed was published.
# FULL costs one fsync for each commit.
SYNCHRONOUS = "FULL"
"""The value of SQLite's `synchronous` pragma."""
# Much longer than any transaction here, and longer than a lease: a late write is better than a
# failed one.
_BUSY_SECONDS: Final = 30


def clock_of(database: Path) -> Callable[[], float]:
    """Return a clock for the database in this file, in seconds since 1970.

    It is the wall clock where the system does not provide its uptime or boot id.
    """
    if not hasattr(time, "CLOCK_BOOTTIME") or not _BOOT_ID.exists():
        return time.time
    offset_file = database.with_name(
        f"{database.name}{_CLOCK_SUFFIX}{_BOOT_ID.read_text().strip()}"
    )
    offset = _clock_offset(offset_file)

    def now() -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME) + offset

    return now


def _clock_offset(offset_file: Path) -> float:
    """Return the stored clock offset; exactly one process creates the file if it is missing."""
    with contextlib.suppress(FileNotFoundError):
        return float(offset_file.read_text(encoding="ascii"))
    offset = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    new_file = offset_file.with_name(f"{offset_file.name}.{secrets.token_hex(4)}")
    try:
        private_files.write_text(new_file, repr(offset))
        with contextlib.suppress(FileExistsError):
            # If another process was first, its offset is used.
            os.link(new_file, offset_file)
        _delete_older_offsets(offset_file)
        return float(offset_file.read_text(encoding="ascii"))
    except OSError:
        # The disk is full or read-only. Other processes compute nearly the same offset.
        return offset
    finally:
        with contextlib.suppress(OSError):
            new_file.unlink()


def _delete_older_offsets(offset_file: Path) -> None:
    """Delete the clock offsets of earlier boots."""
    boot = offset_file.name.rpartition(_CLOCK_SUFFIX)[2]
    for old in offset_file.parent.glob(f"{glob.escape(offset_file.name.removesuffix(boot))}*"):
        if not old.name.startswith(offset_file.name):
            old.unlink(missing_ok=True)


def is_read_only(database: Path) -> bool:
    """Return whether this process cannot write an existing database file or its folder."""
    return database.exists() and not (
        os.access(database, os.W_OK) and os.access(database.parent, os.W_OK)
    )


def _uri(database: Path, read_only: bool) -> str:
    """Return the URI of an existing database file.

    A reader of a database with write-ahead logging needs its log, and without one must create it.
    It cannot create it in a read-only folder. Without a log, no process writes the
    database, so it is opened as immutable, without a log.
    """
    if not read_only:
        return f"file:{quote(str(database))}?mode=rw"
    write_ahead_log = database.with_name(f"{database.name}-wal")
    immutable = "" if write_ahead_log.exists() else "&immutable=1"
    return f"file:{quote(str(database))}?mode=ro{immutable}"


def tune(engine: Engine, path: Path, writes: str) -> None:
    """Install the connection settings for a database file on an engine.

    Args:
        writes: the name of the execution option that marks a writing transaction.
    """
    clocks: list[Callable[[], float]] = []
    # A database that existed and disappears for a while (an unmounted disk) must not be replaced by
    # a new one. Rows written to the new file would be mixed with the old ones when it returns.
    exists = path.exists() and path.stat().st_size > 0
    read_only = is_read_only(path)

    @event.listens_for(engine, "do_connect")
    def _connect_without_creating(
        dialect: Any, entry: ConnectionPoolEntry, arguments: Any, settings: dict[str, Any]
    ) -> sqlite3.Connection | None:
        if not exists:
            # SQLite gives its write-ahead log and its index the mode of the database.
            with contextlib.suppress(OSError):
                private_files.create_file(path)
            return None
        settings = {**settings, "uri": True}
        connection: sqlite3.Connection = sqlite3.connect(_uri(path, read_only), **settings)
        return connection

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, entry: ConnectionPoolEntry) -> None:
        # Python's driver must not begin transactions by itself: `_begin` does.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
        if not read_only:
            _write_ahead(connection)
        if not clocks:
            clocks.append(clock_of(path))
        connection.create_function(CLOCK, 0, clocks[0])

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writing transaction takes the write lock at once. One that reads first and then requests
        # the lock would fail under load.
        writing = connection.get_execution_options().get(writes)
        if writing and read_only:
            raise Unreachable(
                f"the database {path} cannot be written: this user may not write it or its folder.",
                code="read-only",
            )
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Set write-ahead logging, in which readers and one writer work in parallel.

    The setting persists in the file. If several processes set it on a new file at once, SQLite
    refuses some of them without waiting, so this retries.
    """
    give_up = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > give_up:
                raise
        time.sleep(random.uniform(0.001, 0.02))
