"""What SQLite needs: settings of a connection, its one writer, a clock (arena.store.sqlite)."""

from __future__ import annotations

import contextlib
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

if TYPE_CHECKING:
    from sqlalchemy.pool import ConnectionPoolEntry


# The clock of an SQLite store: one for all processes, whatever happens to the wall clock.
#
# SQLite has no clock of its own; it asks the process that runs the statement. If the wall clock is
# set, or one process sees another time than the others, leases would lapse too early or too late.
# So the first process after a boot notes, beside the database, how far the wall clock was ahead of
# the machine's uptime, and from then on the store's time is uptime plus that.


_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_SUFFIX: Final = "-clock-"


def of(database: Path) -> Callable[[], float]:
    """The clock of the database in this file: seconds since 1970.

    Where the system does not tell its uptime it is the wall clock.
    """
    if not hasattr(time, "CLOCK_BOOTTIME") or not _BOOT_ID.exists():
        return time.time
    note = database.with_name(f"{database.name}{_SUFFIX}{_BOOT_ID.read_text().strip()}")
    ahead = _noted(note)

    def now() -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME) + ahead

    return now


def _noted(note: Path) -> float:
    """What stands in the note; it is made if there is none, by one process only."""
    with contextlib.suppress(FileNotFoundError):
        return float(note.read_text(encoding="ascii"))
    ahead = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    fresh = note.with_name(f"{note.name}.{secrets.token_hex(4)}")
    try:
        fresh.write_text(repr(ahead), encoding="ascii")
        with contextlib.suppress(FileExistsError):
            # If somebody else was first, theirs holds.
            os.link(fresh, note)
        _forget_older(note)
        return float(note.read_text(encoding="ascii"))
    except OSError:
        # The disk is full, or may not be written. The others will find much the same.
        return ahead
    finally:
        fresh.unlink(missing_ok=True)


def _forget_older(note: Path) -> None:
    boot = note.name.rpartition(_SUFFIX)[2]
    for old in note.parent.glob(f"{note.name.removesuffix(boot)}*"):
        if not old.name.startswith(note.name):
            old.unlink(missing_ok=True)


CLOCK: Final = "arena_now"
"""The SQL function that is the clock of an SQLite store."""

# A killed process loses nothing with NORMAL either, but a power cut would take back committed
# games: a bot could win a second try at them, or know the seed of a match that was closed,
# published, and is open again. FULL costs one fsync a commit.
SYNCHRONOUS = "FULL"
"""How surely a commit is on the disk, as SQLite calls it."""

# Longer than any transaction here by far, and than a lease: better late than failed.
_BUSY_SECONDS: Final = 30


def tune(engine: Engine, path: Path, writes: str) -> None:
    """Sets up an engine for the database in a file.

    writes: the execution option by which a transaction says that it writes.
    """
    clocks: list[Callable[[], float]] = []
    # A database that was here and is gone for a while must not be begun anew in its place: what
    # is written into that one would be mixed with the old one when it is back.
    there = path.exists() and path.stat().st_size > 0

    @event.listens_for(engine, "do_connect")
    def _create_none(
        dialect: Any, entry: ConnectionPoolEntry, arguments: Any, settings: dict[str, Any]
    ) -> sqlite3.Connection | None:
        if not there:
            return None
        settings = {**settings, "uri": True}
        found: sqlite3.Connection = sqlite3.connect(f"file:{quote(str(path))}?mode=rw", **settings)
        return found

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, entry: ConnectionPoolEntry) -> None:
        # Python's driver must not begin transactions by itself: _begin does.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
        _write_ahead(connection)
        if not clocks:
            clocks.append(of(path))
        connection.create_function(CLOCK, 0, clocks[0])

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads first and then wants to write would fail under load.
        writing = connection.get_execution_options().get(writes)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Sets the journal, which readers and a writer share. It stays set in the file.

    Of several processes that do this to a new file at once SQLite turns some away without a wait.
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
