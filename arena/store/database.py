"""Open the database, and provide its transactions, commit events, clock and migrations.

Code that only one kind of database needs is in `arena.store.sqlite` and
`arena.store.postgresql`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    Engine,
    Executable,
    Result,
    Text,
    and_,
    column,
    create_engine,
    event,
    exc,
    exists,
    func,
    inspect,
    select,
    table,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from arena.errors import StoreError, Unnamed, Unreachable
from arena.store import postgresql, sqlite
from arena.system import failpoint, timings

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

    from arena.store.events.messages import Event


# Events that a transaction causes, which its commit publishes.
#
# A transaction announces its events. After the commit the listeners of the store receive them;
# after a rollback nobody does. If the process is killed in between, they are lost, as any event may
# be.

Listener = Callable[["Event"], None]
"""Receives an event in the thread of the transaction. It must neither raise nor wait."""

_EVENTS: Final = "pokearena_events"
"""Execution option of a connection: the list of events that its transaction has announced."""
_ENDINGS: Final = "pokearena_endings"
"""Execution option of a connection: rows to write at the end of its transaction, by function."""
_listeners: Final[WeakKeyDictionary[Engine, list[Listener]]] = WeakKeyDictionary()
HEAD: Final = "0022"
"""The newest migration. As a constant it can be compared without importing Alembic."""
NEWER_VERSION: Final = "newer-version"
"""Code of the error that a newer release has upgraded the database."""
_WRITES: Final = "pokearena_writes"
_READ_OPTIONS: Final[dict[str, Any]] = {
    "isolation_level": "REPEATABLE READ",
    "postgresql_readonly": True,
}
LONGEST_LEASE_SECONDS: Final = 600.0
"""Bound of the duration of a lease; one that ends later was taken before a step of the clock."""
UPGRADE_WAIT_SECONDS: Final = 20.0
"""How long an upgrade waits for leases: those of killed workers lapse within 15 s."""
_UPGRADE_POLL_SECONDS: Final = 0.25
_IDS_PER_STATEMENT: Final = 500
"""SQLite limits the number of bound values in one statement."""
_Id = TypeVar("_Id")


def announce(connection: Connection, event: Event) -> None:
    """Have an event published when the transaction of this connection is committed."""
    connection.get_execution_options()[_EVENTS].append(event)


RowWriter = Callable[["Connection", list[dict[str, Any]]], None]
"""Writes rows in a transaction."""


def before_end(connection: Connection, write: RowWriter, row: dict[str, Any]) -> None:
    """Have a row written by the last statements of the transaction of this connection."""
    endings: dict[RowWriter, list[dict[str, Any]]]
    endings = connection.get_execution_options()[_ENDINGS]
    endings.setdefault(write, []).append(row)


@contextmanager
def listening(engine: Engine, listener: Listener) -> Iterator[None]:
    """Pass the events of all transactions that this process commits in the block to `listener`."""
    listeners = _listeners.setdefault(engine, [])
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)


def publish(engine: Engine, events: list[Event]) -> None:
    """Pass the events of a committed transaction to the listeners of the store."""
    for announced in events:
        for listener in _listeners.get(engine, ()):
            listener(announced)


Hook = Callable[["Connection"], None]
"""Writes further rows in a transaction, just before its commit."""
_hooks: Final[ContextVar[list[Hook] | None]] = ContextVar("hooks", default=None)


@contextmanager
def before_commit(hooks: list[Hook]) -> Iterator[None]:
    """Call the hooks before the first commit of the block; the commit empties the list."""
    token = _hooks.set(hooks)
    try:
        yield
    finally:
        _hooks.reset(token)


class now(FunctionElement[float]):  # noqa: N801 - it reads like the SQL function it is
    """The database's clock when it evaluates the expression: seconds since 1970, with fractions."""

    type = Double()
    inherit_cache = True


@compiles(now, "sqlite")
def _now_in_sqlite(element: now, compiler: Any, **options: Any) -> str:
    return f"{sqlite.CLOCK}()"


@compiles(now, "postgresql")
def _now_in_postgresql(element: now, compiler: Any, **options: Any) -> str:
    # Not now(), which is constant within a transaction: one that waited for a row lock needs the
    # time after the wait.
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"


def current_time(engine: Engine) -> float:
    """Return the database's time in seconds since 1970."""
    with reading(engine) as connection:
        return float(connection.execute(select(now())).scalar_one())


def id_batches(ids: Sequence[_Id]) -> Iterator[Sequence[_Id]]:
    """Yield the ids in batches that one statement can bind, in their order."""
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        yield ids[start : start + _IDS_PER_STATEMENT]


def open(url: str) -> Engine:  # noqa: A001 - read as database.open
    """Create the engine for a URL: ``sqlite:///arena.db`` or ``postgresql://host/name``.

    This does not connect yet. It creates the folder of an SQLite file if it is missing. The engine
    may be inherited over a fork: processes never share a connection.

    Raises:
        StoreError: the URL does not name a database that the arena supports.
    """
    address = _address(url)
    try:
        engine = create_engine(address, **_pool(address))
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{address.get_backend_name()} databases need the Python package {error.name}, "
            "which is not installed here; `pip install pokearena[postgres]` brings it.",
            code="package-missing",
        ) from None
    _keep_to_own_process(engine)
    if address.get_backend_name() == "sqlite":
        sqlite.tune(engine, Path(str(address.database)), _WRITES)
    else:
        postgresql.tune(engine, _WRITES)
    return engine


def _pool(address: URL) -> dict[str, Any]:
    return {} if address.get_backend_name() == "sqlite" else postgresql.POOL


def _address(url: str) -> URL:
    known = "sqlite:///path/to/arena.db or postgresql://user@host/name"
    try:
        address = make_url(url.replace("postgres://", "postgresql://", 1))
    except exc.ArgumentError:
        before, at, after = url.rpartition("@")
        redacted = f"***@{after}" if at else before + after
        raise Unnamed(
            f"{redacted!r} is not the address of a database; write {known}.", code="not-an-address"
        ) from None
    if address.get_backend_name() == "postgresql":
        return address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() != "sqlite":
        raise Unnamed(
            f"{address.get_backend_name()} is not a supported database; use {known}.",
            code="unsupported-database",
        )
    if not address.database or address.database == ":memory:":
        raise Unnamed(
            f"the store must outlive its process, so it needs a file: {known}.", code="no-file"
        )
    if "?" in url:
        raise Unnamed(
            f"{url!r} has a ?, which begins parameters; an SQLite file has none. "
            "Write %3F for a ? in its path, %23 for a #.",
            code="not-an-address",
        )
    try:
        Path(address.database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unreachable(
            f"the folder of the database {address.database} cannot be made: {error.strerror}.",
            code="no-folder",
        ) from None
    return address


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open a read-only transaction, which sees one state of the store throughout."""
    with engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection.execution_options(**_READ_OPTIONS)
        yield connection


def read_rows(
    engine: Engine, query: Executable, values: Mapping[str, object] | None = None
) -> Result[*tuple[Any, ...]]:
    """Return all rows of one query, read in a transaction of its own."""
    with reading(engine) as connection:
        return connection.execute(query, values).freeze()()


@contextmanager
def writing(engine: Engine, name: str = "") -> Iterator[Connection]:
    """Open a transaction that writes: it is committed at the end, or rolled back on an exception.

    Events that it announces (`arena.store.database`) are published after the commit.

    In SQLite it holds the only write lock from its beginning. In PostgreSQL it must lock the rows
    on which its decisions depend (`arena.store.postgresql`).

    Args:
        name: one of ``failpoint.TRANSACTIONS``, for fault injection and timings.
    """
    failpoint.edge(name, "begin")
    events: list[Event] = []
    endings: dict[RowWriter, list[dict[str, Any]]] = {}
    options: dict[str, Any] = {_WRITES: True, _EVENTS: events, _ENDINGS: endings}
    with (
        timings.HERE.timed(timings.TRANSACTION, name),
        engine.connect().execution_options(**options) as connection,
        connection.begin(),
    ):
        yield connection
        hooks = _hooks.get() or []
        for hook in hooks:
            hook(connection)
        for write, rows in endings.items():
            write(connection, rows)
        failpoint.edge(name, "written")
    hooks.clear()
    failpoint.edge(name, "committed")
    publish(engine, events)


def prepare(engine: Engine) -> None:
    """Create the tables if they are missing, and upgrade them where that is safe.

    An empty database gets its tables, and an SQLite file is upgraded. A PostgreSQL database that is
    in use is not upgraded: processes of the older version may still run on it. The call is cheap if
    the tables are current.

    Raises:
        Unreachable: the database cannot be opened.
        StoreError: the database needs an upgrade, or a newer pokearena wrote it.
    """
    stored = version(engine)
    if stored is None or engine.dialect.name == "sqlite" or stored > HEAD:
        upgrade(engine)
    elif stored != HEAD:
        raise StoreError(
            f"the database {public_url(engine)} is at version {stored}, and this pokearena needs "
            f"{HEAD}: stop all services that use it, then run `pokearena db upgrade`.",
            code="older-version",
        )


def version(engine: Engine) -> str | None:
    """Return the newest migration applied to a database; None if it has none of our tables.

    Raises:
        Unreachable: the database cannot be opened.
    """
    try:
        with reading(engine) as connection:
            return _version(connection)
    except exc.DBAPIError as error:
        raise _cannot_connect(engine, error) from error


def public_url(engine: Engine) -> str:
    """Return the database's URL without its password, for messages."""
    return engine.url.render_as_string(hide_password=True)


def upgrade(engine: Engine, wait_seconds: float | None = UPGRADE_WAIT_SECONDS) -> None:
    """Create the tables, or migrate them to `HEAD`; cheap if they are current.

    Several processes may call this at once: one migrates, the others wait. No worker of another
    release plays on the new tables: the upgrade waits until no lease is valid, and afterwards
    `is_current` refuses a lease to it.

    Args:
        wait_seconds: how long to wait for the leases of running matches; None: they do not matter.

    Raises:
        Unreachable: the database cannot be opened.
        StoreError: a newer pokearena wrote it, or workers are still playing.
    """
    if version(engine) == HEAD:
        return
    until = time.monotonic() + (wait_seconds or 0.0)
    while (leased := _upgrade(engine, wait_seconds is None)) and time.monotonic() < until:
        time.sleep(_UPGRADE_POLL_SECONDS)
    if leased:
        raise StoreError(
            f"the database {public_url(engine)} is not upgraded, because workers are playing"
            f" {leased} {'match' if leased == 1 else 'matches'}: stop all workers and services that"
            " use it, then run `pokearena db upgrade`. Stopped workers return their matches.",
            code="matches-running",
        )


def _upgrade(engine: Engine, is_unused: bool) -> int:
    """Migrate the database, unless workers hold leases; return the number of leases."""
    try:
        with writing(engine, "upgrade") as connection:
            postgresql.lock_decision(connection, "upgrade")
            if (stored := _version(connection)) == HEAD:
                return 0
            if stored is not None and not is_unused and (leased := _leased_matches(connection)):
                return leased
            if stored is None:
                create_tables(connection)
            else:
                _migrate(connection, stored)
    except exc.DBAPIError as error:
        raise _cannot_connect(engine, error) from error
    return 0


def _leased_matches(connection: Connection) -> int:
    """Return the number of matches with a valid lease; no worker can lease one meanwhile."""
    # The tables may be those of any earlier release.
    matches = table("matches", column("state", Text), column("lease_until", Double))
    postgresql.lock_table(connection, matches.name)
    is_leased = and_(
        matches.c.state == "RUNNING",
        matches.c.lease_until > now(),
        matches.c.lease_until <= now() + LONGEST_LEASE_SECONDS,
    )
    query = select(func.count()).select_from(matches).where(is_leased)
    return int(connection.execute(query).scalar_one())


def is_current() -> ColumnElement[bool]:
    """Return the SQL condition that the database has the tables of this release."""
    applied = table("alembic_version", column("version_num", Text))
    return exists(select(1).select_from(applied).where(applied.c.version_num == HEAD))


def _cannot_connect(engine: Engine, error: exc.DBAPIError) -> Unreachable:
    # PostgreSQL's messages end with a period and can have several lines.
    reason = " ".join(str(error.orig).split()).removesuffix(".")
    return Unreachable(
        f"the database {public_url(engine)} cannot be used: {reason}.",
        code="cannot-connect",
    )


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.execute(
        text("SELECT version_num FROM alembic_version")
    ).scalar_one_or_none()
    return version


def create_tables(connection: Connection) -> None:
    """Create the tables of this release in an empty database."""
    from arena.store import schema

    schema.metadata.create_all(connection)
    connection.execute(
        text(
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
            " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
        )
    )
    connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})


def _migrate(connection: Connection, stored: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    scripts = str(Path(__file__).parent / "migrations")
    # configparser would interpolate a % in the path of the installation.
    config.set_main_option("script_location", scripts.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if stored not in known:
        raise _newer(stored) if stored > HEAD else _unreleased(stored)
    command.upgrade(config, "head")


def _unreleased(stored: str) -> StoreError:
    return StoreError(
        f"the database is at version {stored}, of a pokearena that was never released: only "
        "databases of releases from 0.2.0 on can be upgraded. Use another database.",
        code="unreleased-version",
    )


def refuse_newer(engine: Engine) -> None:
    """Check that no newer pokearena wrote the database; changes nothing.

    Raises:
        Unreachable: the database cannot be opened.
        StoreError: a newer pokearena wrote it.
    """
    stored = version(engine)
    if stored is not None and stored > HEAD:
        raise _newer(stored)


def _newer(stored: str) -> StoreError:
    return StoreError(
        f"the database is at version {stored}, written by a newer pokearena; "
        f"this release supports versions up to {HEAD}. Use the newer one, or another database.",
        code=NEWER_VERSION,
    )


def _keep_to_own_process(engine: Engine) -> None:
    """Make a forked process open its own connections."""
    # If an inherited connection were dropped, its finalizer would close the parent's session.
    # A reference to it is therefore kept.
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
