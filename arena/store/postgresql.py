"""What PostgreSQL needs: a pool for processes that fork, limits to every wait, one state to read.

SQLite has one writer, so a transaction there decides on what nobody else changes. Here it must
keep the rows on which it decides from others (`keep`), or a whole decision (`alone`). All
transactions take what they keep in one order, so that no two wait for each other:
versions, the tournament (several by their ids), its matches by their ids.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, Select, event, text

if TYPE_CHECKING:
    from sqlalchemy.pool import ConnectionPoolEntry

POOL: Final[dict[str, Any]] = {
    # Most processes here have one transaction at a time, and a hundred workers are a hundred
    # processes: one connection each is kept. The pages take more while they are asked for much.
    "pool_size": 1,
    "max_overflow": 9,
    # A server that was restarted is met by the next transaction as if nothing had been.
    "pool_pre_ping": True,
    "pool_recycle": 1800,
}
"""How connections are kept, as `create_engine` takes it."""

_MILLISECONDS: Final = 1000
# As long as SQLite's writers wait for each other.
_LOCK_SECONDS: Final = 30
_CONNECT_SECONDS: Final = 10
# So long a network may say nothing while an answer is awaited.
_SILENCE_SECONDS: Final = 30
_ARGUMENTS: Final[dict[str, Any]] = {
    "connect_timeout": _CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": _SILENCE_SECONDS * _MILLISECONDS,
}
_SETTINGS: Final = f"SET lock_timeout = {_LOCK_SECONDS * _MILLISECONDS}"
# A process that is stopped in the middle of a write would keep its rows from everybody for ever.
_IDLE: Final = f"SET LOCAL idle_in_transaction_session_timeout = {_LOCK_SECONDS * _MILLISECONDS}"


def tune(engine: Engine, writes: str) -> None:
    """Sets up an engine.

    writes: the execution option by which a transaction says that it writes.
    """

    @event.listens_for(engine, "do_connect")
    def _limit(
        dialect: Any, entry: ConnectionPoolEntry, arguments: Any, settings: dict[str, Any]
    ) -> None:
        # What the address says goes before.
        settings.update({**_ARGUMENTS, **settings})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, entry: ConnectionPoolEntry) -> None:
        connection.execute(_SETTINGS)
        connection.commit()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if connection.get_execution_options().get(writes):
            connection.exec_driver_sql(_IDLE)


def keep(connection: Connection, rows: Select[Any], *, shared: bool = False) -> None:
    """Keeps rows from being changed by others to the end of the transaction, in their order.

    Nothing to do in SQLite.

    shared: others may keep them like this too.
    """
    if connection.dialect.name == "postgresql":
        # Their keys do not change, so rows that refer to them can be written meanwhile.
        connection.execute(rows.with_for_update(read=shared, key_share=not shared)).all()


def alone(connection: Connection, what: str) -> None:
    """Has one transaction at a time do this, to its end: where there are no rows yet to keep.

    Nothing to do in SQLite.
    """
    if connection.dialect.name == "postgresql":
        lock = text("SELECT pg_advisory_xact_lock(:family, :which)")
        which = zlib.crc32(what.encode()) - (1 << 31)
        connection.execute(lock, {"family": _FAMILY, "which": which})


# Any fixed number: it tells our advisory locks from those of others in the same database.
_FAMILY: Final = 706_380
