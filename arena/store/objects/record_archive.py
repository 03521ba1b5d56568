"""Store the records of finished matches in the object storage: one object for each match.

Games are committed to the database, so a match never waits for the object storage. When the match
is over, its records are written as one compressed object, and the rows of its games keep all other
values. A row whose record is empty refers to the object.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Any, Final

from sqlalchemy import Connection, Engine, Select, literal_column, select, update

from arena.errors import Conflict
from arena.store import schema
from arena.store.database import now, read_rows, reading, writing
from arena.store.objects import object_storage, stored_objects
from arena.store.objects.object_storage import ObjectMissing, ObjectStorage
from arena.store.objects.stored_objects import StoredObject
from arena.store.postgresql import lock_rows
from arena.store.schema import OPEN, ClosingKind, ObjectKind

ARCHIVED: Final = ""
"""The record of a game in the database if it is in the object storage."""
_CACHED_MATCHES: Final = 4
_ATTEMPTS: Final = 2
_GZIP_LEVEL: Final = 6


def find_archive(connection: Connection, match: str) -> StoredObject | None:
    """Return the object with the records of a match, if they are archived."""
    return stored_objects.find_object(connection, ObjectKind.RECORDS, match)


def read(engine: Engine, archived: StoredObject) -> Mapping[int, str]:
    """Return the records of a match by game.

    Raises:
        ObjectStorageError: the object is missing or damaged, or the storage cannot be used.
    """
    return _read(object_storage.needed(engine), archived)


# A replay page reads each game of a match separately.
@lru_cache(_CACHED_MATCHES)
def _read(storage: ObjectStorage, archived: StoredObject) -> Mapping[int, str]:
    packed = b"".join(storage.read(archived.key, archived.digest))
    return dict(json.loads(gzip.decompress(packed)))


def complete(engine: Engine, match: str, records: Mapping[int, str]) -> Mapping[int, str]:
    """Return records of a match, reading archived ones from the object storage.

    Args:
        records: the records as the database has them, by game.

    Raises:
        ObjectStorageError: they are missing or damaged, or the storage cannot be used.
    """
    if ARCHIVED not in records.values():
        return records
    for _ in range(_ATTEMPTS):
        with reading(engine) as connection:
            archived = find_archive(connection, match)
            # None: they were moved to the database after `records` had been read.
            stored = _in_database(connection, match) if archived is None else {}
        if archived is not None:
            try:
                stored = dict(read(engine, archived))
            except ObjectMissing:
                # The object was replaced meanwhile, or is lost.
                continue
        if all(stored.get(game) for game in records):
            return {game: stored[game] for game in records}
    raise ObjectMissing(
        f"the records of match {match} are missing in the database and in the object storage.",
        code="records-missing",
    )


def archive(engine: Engine, storage: ObjectStorage, match: str) -> bool:
    """Move the records of a finished match from the database to the object storage.

    Returns:
        Whether they were moved; False if the match is open, has no records in the database, or they
        changed meanwhile more than once.

    Raises:
        ObjectStorageError: the storage does not accept them.
    """
    for _ in range(_ATTEMPTS):
        with reading(engine) as connection:
            state = select(schema.matches.c.state).where(schema.matches.c.id == match)
            if connection.execute(state).scalar_one_or_none() in (None, *OPEN):
                return False
            records = _in_database(connection, match)
        if not records or ARCHIVED in records.values():
            return False
        packed = io.BytesIO(_packed(records))
        written = stored_objects.write(engine, storage, ObjectKind.RECORDS, match, packed)
        # A Conflict: writing the object took too long.
        with suppress(Conflict), writing(engine, "archive_records") as connection:
            lock_match(connection, match)
            if _in_database(connection, match) == records:
                stored_objects.settle(connection, written.key)
                of_match = schema.games.c.match == match
                connection.execute(update(schema.games).where(of_match).values(record=ARCHIVED))
                return True
        stored_objects.discard(engine, written.key)
    return False


def restore(engine: Engine, match: str) -> bool:
    """Move the records of a match back to the database; return whether they were in the storage.

    Raises:
        ObjectStorageError: the object is missing or damaged, or the storage cannot be used.
    """
    table = schema.games
    with reading(engine) as connection:
        archived = find_archive(connection, match)
    if archived is None:
        return False
    records = read(engine, archived)
    with writing(engine, "restore_records") as connection:
        lock_match(connection, match)
        if find_archive(connection, match) != archived:
            return False
        for game, record in records.items():
            of_game = (table.c.match == match, table.c.game == game)
            connection.execute(update(table).where(*of_game).values(record=record))
        stored_objects.drop(connection, ObjectKind.RECORDS, match)
    return True


@dataclass(frozen=True, slots=True)
class RewrittenRecords:
    """New records of an archived match, which `replace` stores.

    Attributes:
        before: the object that they were computed from; None if the match is not archived.
        after: the new object; None if nothing changed.
    """

    before: StoredObject | None = None
    after: StoredObject | None = None

    def replace(self, connection: Connection, match: str) -> bool:
        """Refer to the new object; return False if the match has another object meanwhile.

        The transaction must have locked the match.
        """
        if find_archive(connection, match) != self.before:
            return False
        if self.after is not None:
            stored_objects.drop(connection, ObjectKind.RECORDS, match)
            stored_objects.settle(connection, self.after.key)
        return True


def rewrite(engine: Engine, match: str, change: Callable[[str], str]) -> RewrittenRecords:
    """Write an object with changed records of a match, if it is archived.

    Args:
        change: returns the changed record of a game.

    Raises:
        ObjectStorageError: the storage cannot be used.
    """
    with reading(engine) as connection:
        archived = find_archive(connection, match)
    if archived is None:
        return RewrittenRecords()
    records = read(engine, archived)
    changed = {game: change(record) for game, record in records.items()}
    if changed == records:
        return RewrittenRecords(archived)
    packed = io.BytesIO(_packed(changed))
    storage = object_storage.needed(engine)
    written = stored_objects.write(engine, storage, ObjectKind.RECORDS, match, packed)
    return RewrittenRecords(archived, written)


def lock_match(connection: Connection, match: str) -> None:
    """Lock a match, so that its records do not change until the transaction ends."""
    lock_rows(connection, select(schema.matches.c.id).where(schema.matches.c.id == match))


def due(engine: Engine, after: int, seconds: float, limit: int) -> tuple[list[str], int]:
    """Return closed matches whose records are in the database, in the order of their closing.

    Args:
        after: the position in the sequence of events that an earlier call returned; at first 0.
        seconds: the least time since the match was closed.
        limit: the maximum number of matches that are read.

    Returns:
        The ids, and the position of the last match that was read.
    """
    table, objects = schema.closings, schema.stored_objects
    archived = select(objects.c.key).where(
        objects.c.kind == ObjectKind.RECORDS,
        objects.c.subject == table.c.match,
        objects.c.state == schema.ObjectState.STORED,
    )
    # A time in the future comes from a clock that was ahead.
    is_recent = table.c.at.between(now() - seconds, now()).label("is_recent")
    query = select(*table.c["seq", "match"], is_recent, archived.exists().label("archived"))
    query = query.where(table.c.seq > after, table.c.kind == ClosingKind.MATCH_CLOSED)
    rows = read_rows(engine, query.order_by(table.c.seq).limit(limit)).all()
    # The next call begins with the first recent one.
    rows = list(takewhile(lambda row: not row.is_recent, rows))
    return [row.match for row in rows if not row.archived], rows[-1].seq if rows else after


def in_database(engine: Engine) -> list[str]:
    """Return the finished matches with records in the database, in order of their ids."""
    matches, games = schema.matches, schema.games
    has_records: Select[Any] = select(literal_column("1")).where(
        games.c.match == matches.c.id, games.c.record != ARCHIVED
    )
    query = select(matches.c.id).where(matches.c.state.not_in(OPEN), has_records.exists())
    return list(read_rows(engine, query.order_by(matches.c.id)).scalars())


def _in_database(connection: Connection, match: str) -> dict[int, str]:
    table = schema.games
    query = select(table.c.game, table.c.record).where(table.c.match == match)
    return {row.game: row.record for row in connection.execute(query.order_by(table.c.game))}


def _packed(records: Mapping[int, str]) -> bytes:
    text = json.dumps(list(records.items()), ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), _GZIP_LEVEL, mtime=0)
