"""Configure PostgreSQL: connection pool for forking processes, timeouts, and row locks.

SQLite has one writer, so nothing changes under a transaction that writes. In PostgreSQL such a
transaction must lock the rows on which its decision depends (`lock_rows`), or the whole decision
(`lock_decision`). To avoid deadlocks all transactions lock in the same order:

1. versions,
2. the tournament (several in order of their ids),
3. its matches in order of their ids.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, Select, event, text

from arena.errors import Unreachable

if TYPE_CHECKING:
    from sqlalchemy.pool import ConnectionPoolEntry

POOL: Final[dict[str, Any]] = {
    # Most processes run one transaction at a time, and a hundred workers are a hundred processes.
    # So each keeps one connection. The web process opens more under load.
    "pool_size": 1,
    "max_overflow": 9,
    # Replaces connections that a restart of the server has closed, before a transaction uses them.
    "pool_pre_ping": True,
    "pool_recycle": 1800,
    # Serializable transactions, a possible default of the server, would fail under load.
    "isolation_level": "READ COMMITTED",
}
"""The pool arguments of `create_engine`."""

_MILLISECONDS: Final = 1000
# The same limit as between SQLite's writers.
_LOCK_SECONDS: Final = 30
_CONNECT_SECONDS: Final = 10
# How long the network may be silent while a response is awaited.
_SILENCE_SECONDS: Final = 30
_CONNECT_ARGUMENTS: Final[dict[str, Any]] = {
    "connect_timeout": _CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": _SILENCE_SECONDS * _MILLISECONDS,
}
# Settings on which transactions depend, whatever the server, the role or the database sets.
_SESSION: Final = f"""
SET lock_timeout = {_LOCK_SECONDS * _MILLISECONDS};
SET extra_float_digits = 1;
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') = 'off';
"""
"""Fewer digits would change stored numbers.
Without a synchronous commit a crash could undo a committed game (`arena.store.sqlite`)."""
# A process that stops in the middle of a write would otherwise hold its row locks for ever.
_SET_IDLE_TIMEOUT: Final = (
    f"SET LOCAL idle_in_transaction_session_timeout = {_LOCK_SECONDS * _MILLISECONDS}"
)
# An arbitrary constant that separates our advisory locks from others in the same database.
_LOCK_FAMILY: Final = 706_380


def tune(engine: Engine, writes: str) -> None:
    """Install connection timeouts and session settings on an engine.

    Args:
        writes: the name of the execution option that marks a writing transaction.
    """

    @event.listens_for(engine, "do_connect")
    def _limit(
        dialect: Any, entry: ConnectionPoolEntry, arguments: Any, settings: dict[str, Any]
    ) -> Any:
        # Parameters of the database URL override these defaults, but not the encoding, which
        # PGCLIENTENCODING and the settings of a role would change as well.
        settings = {**_CONNECT_ARGUMENTS, **settings, "client_encoding": "utf8"}
        connection = dialect.connect(*arguments, **settings)
        # Before SQLAlchemy's first query, because SQL_ASCII returns bytes in place of text.
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            connection.close()
            raise Unreachable(
                f"the database {engine.url.render_as_string(hide_password=True)} has the encoding "
                f"{encoding}, and the arena needs UTF8: create another one with `createdb "
                "--encoding=UTF8 --template=template0 NAME`.",
                code="encoding",
            )
        return connection

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, entry: ConnectionPoolEntry) -> None:
        connection.execute(_SESSION)
        connection.commit()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if connection.get_execution_options().get(writes):
            connection.exec_driver_sql(_SET_IDLE_TIMEOUT)


def lock_rows(connection: Connection, rows: Select[Any], *, shared: bool = False) -> None:
    """Lock rows against changes by others until the transaction ends, in the order of the query.

    In SQLite this does nothing.

    Args:
        connection: a writing transaction.
        rows: the query that selects them.
        shared: take a shared lock, which other transactions can hold at the same time.
    """
    if connection.dialect.name == "postgresql":
        # FOR NO KEY UPDATE: keys never change, so others may still insert rows that reference
        # these.
        connection.execute(rows.with_for_update(read=shared, key_share=not shared)).all()


def lock_table(connection: Connection, table: str) -> None:
    """Let no other transaction change a table or lock its rows, until this one ends.

    In SQLite this does nothing, because a writing transaction has the only write lock.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"LOCK TABLE {table} IN EXCLUSIVE MODE"))


def lock_decision(connection: Connection, decision: str) -> None:
    """Serialize a decision that has no row to lock yet, until the transaction ends.

    In SQLite this does nothing.

    Args:
        connection: a writing transaction.
    """
    if connection.dialect.name == "postgresql":
        lock = text("SELECT pg_advisory_xact_lock(:family, :which)")
        which = zlib.crc32(decision.encode()) - (1 << 31)
        connection.execute(lock, {"family": _LOCK_FAMILY, "which": which})
