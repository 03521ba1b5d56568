"""The database itself: opening it, its transactions, its clock, its migrations.

All that differs between SQLite and PostgreSQL is in this file.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Double, Engine, create_engine, event, exc, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from arena import failpoint, timings
from arena.store import clock
from arena.store.errors import StoreError, Unreachable

if TYPE_CHECKING:
    from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

HEAD: Final = "0006"
"""The newest migration, so that a current database is known without importing Alembic."""

# Longer than any transaction here by far, and than a lease: better late than failed.
_BUSY_SECONDS: Final = 30
# The SQL function that is the clock of an SQLite store (arena.store.clock).
_CLOCK: Final = "arena_now"
_WRITES: Final = "pokearena_writes"
# Any fixed number: it names the lock that concurrent upgrades of one PostgreSQL take.
_UPGRADE_LOCK: Final = 7_063_801_526


class now(FunctionElement[float]):  # noqa: N801 - it reads like the SQL function it is
    """The database's clock when the statement meets it: seconds since 1970, with fractions."""

    type = Double()
    inherit_cache = True


@compiles(now, "sqlite")
def _now_in_sqlite(element: now, compiler: Any, **options: Any) -> str:
    return f"{_CLOCK}()"


@compiles(now, "postgresql")
def _now_in_postgresql(element: now, compiler: Any, **options: Any) -> str:
    # Not now(), which stands still in a transaction: one that waited for a row must see later.
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"


def open(url: str) -> Engine:  # noqa: A001 - read as database.open
    """The database at an address such as ``sqlite:///arena.db`` or ``postgresql://host/name``.

    Connects to nothing yet. The folder of an SQLite file is made if it is missing. The engine may
    be carried over a fork: connections are never shared between processes.

    Raises:
        StoreError: the address is of no database that the arena can use.
    """
    address = _address(url)
    try:
        engine = create_engine(address)
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{address.get_backend_name()} databases need the Python package {error.name}, "
            "which is not installed here."
        ) from None
    _keep_to_own_process(engine)
    if address.get_backend_name() == "sqlite":
        _tune_sqlite(engine, Path(str(address.database)))
    return engine


def _address(url: str) -> URL:
    known = "sqlite:///path/to/arena.db or postgresql://user@host/name"
    try:
        address = make_url(url.replace("postgres://", "postgresql://", 1))
    except exc.ArgumentError:
        raise StoreError(f"{url!r} is no address of a database; write {known}.") from None
    if address.get_backend_name() == "postgresql" and address.drivername == "postgresql":
        return address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() == "postgresql":
        return address
    if address.get_backend_name() != "sqlite":
        raise StoreError(f"{address.get_backend_name()} is no database for the arena; use {known}.")
    if not address.database or address.database == ":memory:":
        raise StoreError(f"the store must outlive its process, so it needs a file: {known}.")
    try:
        Path(address.database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unreachable(
            f"the folder of the database {address.database} cannot be made: {error.strerror}."
        ) from None
    return address


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads, and sees one state of the store throughout in SQLite."""
    with engine.connect() as connection:
        yield connection


@contextmanager
def writing(engine: Engine, name: str = "") -> Iterator[Connection]:
    """A transaction that writes: all of it is committed at the end, or nothing if it raises.

    In SQLite it has the only write lock from its first moment on; in PostgreSQL it must lock the
    rows on which it decides.

    name: what it does, one of ``failpoint.TRANSACTIONS``.
    """
    failpoint.edge(name, "begin")
    with (
        timings.HERE.timed(timings.TRANSACTION, name),
        engine.connect().execution_options(**{_WRITES: True}) as connection,
        connection.begin(),
    ):
        yield connection
        failpoint.edge(name, "written")
    failpoint.edge(name, "committed")


def upgrade(engine: Engine) -> None:
    """Makes the tables, or brings them up to date. Quick if they are current.

    Several processes may do this at once; one does it, the others wait.

    Raises:
        Unreachable: the database cannot be opened.
        StoreError: a newer pokearena has written it.
    """
    try:
        with reading(engine) as connection:
            if _version(connection) == HEAD:
                return
        with writing(engine, "upgrade") as connection:
            if connection.dialect.name == "postgresql":
                lock = text("SELECT pg_advisory_xact_lock(:lock)")
                connection.execute(lock, {"lock": _UPGRADE_LOCK})
            if _version(connection) != HEAD:
                _migrate(connection)
    except exc.DBAPIError as error:
        where = engine.url.render_as_string(hide_password=True)
        raise Unreachable(f"the database {where} cannot be used: {error.orig}.") from error


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.execute(
        text("SELECT version_num FROM alembic_version")
    ).scalar_one_or_none()
    return version


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    found = _version(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreError(
            f"the database is at version {found}, written by a newer pokearena; "
            f"this one knows versions up to {HEAD}. Use the newer one, or another database."
        )
    command.upgrade(config, "head")


def _keep_to_own_process(engine: Engine) -> None:
    """Has a forked process open connections of its own."""
    # Dropping an inherited connection would close it under the parent's feet: it is kept instead.
    inherited: list[object] = []

    @event.listens_for(engine, "connect")
    def _note_owner(connection: Any, entry: ConnectionPoolEntry) -> None:
        entry.info["pid"] = os.getpid()

    @event.listens_for(engine, "checkout")
    def _check_owner(
        connection: Any, entry: ConnectionPoolEntry, proxy: PoolProxiedConnection
    ) -> None:
        if entry.info["pid"] != os.getpid():
            inherited.append(entry.dbapi_connection)
            entry.dbapi_connection = proxy.dbapi_connection = None  # type: ignore[misc]
            raise exc.DisconnectionError("this connection belongs to the parent process")


def _tune_sqlite(engine: Engine, path: Path) -> None:
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
        # A killed process loses nothing with NORMAL either, but a power cut would take back
        # committed games: a bot could win a second try at them, or know the seed of a match
        # that was closed, published, and is open again. FULL costs one fsync a commit.
        connection.execute("PRAGMA synchronous = FULL")
        _write_ahead(connection)
        if not clocks:
            clocks.append(clock.of(path))
        connection.create_function(_CLOCK, 0, clocks[0])

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads first and then wants to write would fail under load.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


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
