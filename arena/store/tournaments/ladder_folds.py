"""Store the sums and standings of ladders, so that a process that starts reads only new matches.

A stored ladder is a cache beside the matches; `arena.ladders.stored_ladders` decides whether it
still holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Engine, delete, insert, select

from arena.store import schema
from arena.store.access import audit_log
from arena.store.database import now, reading, writing
from arena.store.postgresql import keep


class StoredFold(NamedTuple):
    """A stored ladder.

    Attributes:
        matches: number of matches in its sums.
        corrections: number of corrections when they were read.
        data: `arena.ratings.stored_standings`.
    """

    matches: int
    corrections: int
    data: bytes | bytearray


def find(engine: Engine, first: str) -> StoredFold | None:
    """Return the stored ladder whose oldest tournament this is, if results have not changed.

    Args:
        engine: the store.
        first: id of the oldest tournament of the ladder.

    Returns:
        The ladder; None without one, or after a correction.
    """
    table = schema.ladder_folds
    query = select(*table.c["matches", "corrections"]).where(table.c.tournament == first)
    with reading(engine) as connection:
        row = connection.execute(query).one_or_none()
        if row is None or row.corrections != audit_log.corrections(connection):
            return None
        data = connection.execute(select(table.c.data).where(table.c.tournament == first))
        return StoredFold(row.matches, row.corrections, data.scalar_one())


def store(engine: Engine, first: str, fold: StoredFold) -> None:
    """Store a ladder in place of the earlier one.

    Args:
        engine: the store.
        first: id of the oldest tournament of the ladder.
        fold: the ladder.
    """
    table, whole = schema.ladder_folds, schema.tournaments
    with writing(engine, "store_ladder_fold") as connection:
        # Lock a row, so that concurrent web servers do not insert it twice.
        keep(connection, select(whole.c.id).where(whole.c.id == first))
        connection.execute(delete(table).where(table.c.tournament == first))
        row = {**fold._asdict(), "tournament": first, "stored": now()}
        connection.execute(insert(table).values(**row))


def delete_folds(engine: Engine, of: Iterable[str]) -> None:
    """Remove the stored ladders that begin with one of some tournaments."""
    table = schema.ladder_folds
    with writing(engine, "delete_ladder_folds") as connection:
        connection.execute(delete(table).where(table.c.tournament.in_(list(of))))
