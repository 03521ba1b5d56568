"""Store ladders and their histories, so that a process that starts reads only new matches.

Both are caches beside the matches. `arena.ladders.stored_ladders` and
`arena.ladders.stored_histories` decide whether they still hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from sqlalchemy import Connection, Engine, Table, delete, insert, select

from arena.store import schema
from arena.store.access import audit_log
from arena.store.database import now, reading, writing
from arena.store.postgresql import lock_rows

PART: Final = 1 << 23
"""Number of bytes of a row."""


FOLDS: Final = schema.ladder_folds
HISTORIES: Final = schema.ladder_histories
"""The tables of stored ladders, and of their histories."""


class StoredFold(NamedTuple):
    """A stored ladder, or its history.

    Attributes:
        matches: number of matches in its sums.
        corrections: number of corrections when they were read.
        data: `arena.ratings.stored_standings` or `arena.ladders.stored_histories`.
    """

    matches: int
    corrections: int
    data: bytearray


def find(engine: Engine, first: str, table: Table = FOLDS) -> StoredFold | None:
    """Return the stored ladder whose oldest tournament this is, if results have not changed.

    Args:
        engine: the store.
        first: id of the oldest tournament of the ladder.
        table: `FOLDS` or `HISTORIES`.

    Returns:
        The ladder; None without one, or after a correction.
    """
    query = select(*table.c["matches", "corrections", "data"]).where(table.c.tournament == first)
    fold = None
    with reading(engine) as connection:
        corrections = audit_log.corrections(connection)
        query = query.where(table.c.corrections == corrections).order_by(table.c.part)
        with connection.execution_options(yield_per=1).execute(query) as rows:
            for row in rows:
                fold = fold or StoredFold(row.matches, row.corrections, bytearray())
                fold.data.extend(row.data)
    return fold


def store(engine: Engine, first: str, fold: StoredFold) -> None:
    """Store a ladder in place of the earlier one.

    Args:
        engine: the store.
        first: id of the oldest tournament of the ladder.
        fold: the ladder.
    """
    with writing(engine, "store_ladder_fold") as connection:
        _replace(connection, FOLDS, first, fold)


def store_history(engine: Engine, first: str, history: StoredFold) -> None:
    """Store the history of a ladder in place of the earlier one.

    Args:
        engine: the store.
        first: id of the oldest tournament of the ladder.
        history: the history.
    """
    with writing(engine, "store_ladder_history") as connection:
        _replace(connection, HISTORIES, first, history)


def _replace(connection: Connection, table: Table, first: str, fold: StoredFold) -> None:
    tournaments = schema.tournaments
    # Lock a row, so that concurrent web servers do not insert it twice.
    lock_rows(connection, select(tournaments.c.id).where(tournaments.c.id == first))
    connection.execute(delete(table).where(table.c.tournament == first))
    row = {"tournament": first, "matches": fold.matches, "corrections": fold.corrections}
    for part, begin in enumerate(range(0, len(fold.data), PART)):
        data = bytes(memoryview(fold.data)[begin : begin + PART])
        connection.execute(insert(table).values(**row, part=part, stored=now(), data=data))


def delete_folds(engine: Engine, of: Iterable[str]) -> None:
    """Remove the stored ladders, and histories, that begin with one of some tournaments."""
    first = list(of)
    with writing(engine, "delete_ladder_folds") as connection:
        for table in (FOLDS, HISTORIES):
            connection.execute(delete(table).where(table.c.tournament.in_(first)))
