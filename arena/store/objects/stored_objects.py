"""Refer to objects from the database, so that no crash loses an object or leaves one for ever.

    begin:   a transaction inserts the key of a new object, as `writing`
             the object is written
    settle:  the transaction that refers to the object marks it as `stored`
    drop:    the transaction that ends the reference marks it as `garbage`
    sweep:   garbage, and objects that were not settled within an hour, are deleted; then their rows

Every write has a new key, so deleting an object can never delete one that another process is about
to refer to. An object that was marked as garbage cannot be settled any more.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Final

from sqlalchemy import ColumnElement, Connection, Engine, and_, delete, insert, select, update

from arena.errors import Conflict
from arena.store import schema
from arena.store.database import now, read_rows, reading, writing
from arena.store.objects.object_storage import PIECE, ObjectStorage
from arena.store.schema import ObjectKind, ObjectState

ABANDONED_SECONDS: Final = 3600.0
"""Time after which an object that nothing refers to yet is deleted."""
_OBJECTS_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object to which the database refers.

    Attributes:
        key: its key in the object storage.
        digest: SHA-256 of its bytes, in hexadecimal.
    """

    key: str
    digest: str
    bytes: int


def write(
    engine: Engine, storage: ObjectStorage, kind: ObjectKind, subject: str, content: IO[bytes]
) -> StoredObject:
    """Write a new object and return it; the caller's next transaction must settle it.

    Args:
        subject: the content hash of the version, or the id of the match.
        content: the bytes, from the current position.

    Raises:
        ObjectStorageError: the storage does not accept it.
    """
    start = content.tell()
    total = hashlib.sha256()
    while piece := content.read(PIECE):
        total.update(piece)
    size = content.tell() - start
    content.seek(start)
    # The end makes the key unique.
    digest = total.hexdigest()
    key = f"{kind}/{subject}/{digest}-{secrets.token_hex(8)}"
    row = {"key": key, "kind": kind, "subject": subject, "digest": digest, "bytes": size}
    with writing(engine, "begin_object") as connection:
        connection.execute(
            insert(schema.stored_objects).values(**row, state=ObjectState.WRITING, changed=now())
        )
    storage.put(key, content)
    return StoredObject(key, digest, size)


def settle(connection: Connection, key: str) -> None:
    """Mark a written object as stored, in the transaction that refers to it.

    Raises:
        Conflict: a sweep has abandoned it, because writing it took longer than an hour.
    """
    table = schema.stored_objects
    settled = connection.execute(
        update(table)
        .where(table.c.key == key, table.c.state == ObjectState.WRITING)
        .values(state=ObjectState.STORED, changed=now())
    )
    if settled.rowcount != 1:
        raise Conflict(f"writing the object {key} took too long; retry.", code="object-abandoned")


def drop(connection: Connection, kind: ObjectKind, subject: str) -> None:
    """Mark the stored object of a subject as garbage, in the transaction that ends the reference.

    A sweep deletes it.
    """
    connection.execute(
        update(schema.stored_objects)
        .where(_stored(kind), schema.stored_objects.c.subject == subject)
        .values(state=ObjectState.GARBAGE, changed=now())
    )


def discard(engine: Engine, key: str) -> None:
    """Mark a written object as garbage, to which nothing refers."""
    table = schema.stored_objects
    with writing(engine, "discard_object") as connection:
        connection.execute(
            update(table)
            .where(table.c.key == key, table.c.state == ObjectState.WRITING)
            .values(state=ObjectState.GARBAGE, changed=now())
        )


def find_object(connection: Connection, kind: ObjectKind, subject: str) -> StoredObject | None:
    """Return the stored object of a subject; None without one."""
    table = schema.stored_objects
    query = select(*table.c["key", "digest", "bytes"])
    row = connection.execute(query.where(_stored(kind), table.c.subject == subject)).one_or_none()
    return None if row is None else StoredObject(*row)


def subjects(engine: Engine, kind: ObjectKind) -> list[str]:
    """Return the subjects with a stored object of a kind, in their order."""
    query = select(schema.stored_objects.c.subject).where(_stored(kind))
    return list(read_rows(engine, query.order_by(schema.stored_objects.c.subject)).scalars())


def exist(engine: Engine) -> bool:
    """Return whether a build or the records of a match are stored as an object."""
    table = schema.stored_objects
    query = select(table.c.key).where(table.c.state == ObjectState.STORED).limit(1)
    return read_rows(engine, query).first() is not None


def sweep(engine: Engine, storage: ObjectStorage) -> int:
    """Delete garbage and abandoned objects; return their number. It can be interrupted.

    Raises:
        ObjectStorageError: the storage does not delete an object.
    """
    table = schema.stored_objects
    abandoned = and_(
        table.c.state == ObjectState.WRITING, table.c.changed < now() - ABANDONED_SECONDS
    )
    has_abandoned = read_rows(engine, select(table.c.key).where(abandoned).limit(1)).first()
    if has_abandoned:
        with writing(engine, "abandon_objects") as connection:
            connection.execute(
                update(table).where(abandoned).values(state=ObjectState.GARBAGE, changed=now())
            )
    number = 0
    while True:
        garbage = select(table.c.key).where(table.c.state == ObjectState.GARBAGE)
        keys = list(read_rows(engine, garbage.limit(_OBJECTS_AT_ONCE)).scalars())
        if not keys:
            return number
        for key in keys:
            storage.delete(key)
        with writing(engine, "forget_objects") as connection:
            connection.execute(delete(table).where(table.c.key.in_(keys)))
        number += len(keys)


def unknown(engine: Engine, storage: ObjectStorage) -> Iterator[str]:
    """Yield the keys of objects that the database does not contain.

    A row is inserted before its object is written. So an unknown object belongs to another arena,
    or was written after the backup from which this database was restored.

    Raises:
        StorageUnavailable: the storage does not answer.
    """
    table, listing = schema.stored_objects, storage.listing()
    while keys := list(islice(listing, _OBJECTS_AT_ONCE)):
        with reading(engine) as connection:
            query = select(table.c.key).where(table.c.key.in_(keys))
            known = set(connection.execute(query).scalars())
        yield from (key for key in keys if key not in known)


def _stored(kind: ObjectKind) -> ColumnElement[bool]:
    table = schema.stored_objects
    return and_(table.c.kind == kind, table.c.state == ObjectState.STORED)
