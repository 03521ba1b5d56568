"""The sequence of events that change a standing or a page, and how to follow it.

A transaction adds its events with its commit, and `seq` never becomes visible out of order. A
follower (ratings, pages, webhooks, metrics) that reads the rows after its last `seq` misses none.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, func, insert, select

from arena.store import schema
from arena.store.database import before_end, now, reading
from arena.store.postgresql import lock_decision
from arena.store.schema import ClosingKind

BATCH: Final = 1_000
"""Maximum number of rows that a follower reads at once."""


class Closing(NamedTuple):
    """An event.

    Attributes:
        seq: its position in the sequence.
        match: id of the match that it concerns; empty without one.
        tournament: id of the tournament; empty without one.
        version: ``name@number``; empty without one.
        at: when it happened, in seconds since 1970.
    """

    seq: int
    kind: ClosingKind
    match: str
    tournament: str
    version: str
    at: float


def add_closing(
    connection: Connection,
    kind: ClosingKind,
    *,
    match: str = "",
    tournament: str = "",
    version: str = "",
) -> None:
    """Add an event at the end of the transaction of this connection."""
    row = {"kind": kind, "match": match, "tournament": tournament, "version": version}
    before_end(connection, _insert, row)


def newest_closing(connection: Connection) -> int:
    """Return the position of the newest event; 0 without one."""
    return int(
        connection.execute(select(func.coalesce(func.max(schema.closings.c.seq), 0))).scalar_one()
    )


def newest_closing_of(engine: Engine) -> int:
    """Return the position of the newest event; 0 without one."""
    with reading(engine) as connection:
        return newest_closing(connection)


def closings_after(
    connection: Connection,
    seq: int,
    limit: int = BATCH,
    *,
    of: Collection[str] | None = None,
    until: int | None = None,
) -> list[Closing]:
    """Return the events after a position, oldest first.

    Args:
        seq: the position of the last event that is known.
        of: only events of these tournaments; None: all.
        until: only events up to this position; None: all.
    """
    table = schema.closings
    query = select(table).where(table.c.seq > seq).order_by(table.c.seq).limit(limit)
    if of is not None:
        query = query.where(table.c.tournament.in_(of))
    if until is not None:
        query = query.where(table.c.seq <= until)
    return [
        Closing(row.seq, ClosingKind(row.kind), row.match, row.tournament, row.version, row.at)
        for row in connection.execute(query)
    ]


def events_of_matches(connection: Connection, tournament: str) -> dict[str, dict[ClosingKind, int]]:
    """Return the first event of each kind of the matches of a tournament, by match."""
    table = schema.closings
    query = (
        select(table.c.match, table.c.kind, func.min(table.c.seq).label("seq"))
        .where(table.c.tournament == tournament, table.c.match != "")
        .group_by(table.c.match, table.c.kind)
    )
    events: dict[str, dict[ClosingKind, int]] = {}
    for row in connection.execute(query):
        events.setdefault(row.match, {})[ClosingKind(row.kind)] = row.seq
    return events


def _insert(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Insert the rows of a transaction, as its last statements.

    In PostgreSQL, the lock is held until the commit, so that the next transaction numbers its rows
    when these are visible. It is the last lock of the transaction, so nobody waits for its holder
    in turn. SQLite has one writer.
    """
    lock_decision(connection, "closings")
    last = newest_closing(connection)
    numbered = [{**row, "seq": last + place} for place, row in enumerate(rows, 1)]
    connection.execute(insert(schema.closings).values(at=now()), numbered)
