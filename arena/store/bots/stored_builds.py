"""Build archives in the store: one for each content hash.

The database holds them in pieces, so that a process never loads a large one into memory as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from sqlalchemy import Connection, Engine, exc, insert, select, update

from arena.errors import StoreError
from arena.store import schema
from arena.store.database import now, read_rows, reading, writing
from arena.store.objects import object_storage, stored_objects
from arena.store.objects.object_storage import ObjectStorage
from arena.store.schema import ObjectKind

PIECE: Final = 1 << 20
"""Bytes of a piece."""


@dataclass(frozen=True, slots=True)
class StoredBuild:
    """A stored build archive."""

    content_hash: str
    digest: str
    """SHA-256 of the packed bytes."""
    bytes: int
    trusted: bool
    """False: only submissions, not the organiser, have provided this content."""
    key: str = ""
    """Its key in the object storage; empty if the database holds it."""


def keep_build(engine: Engine, content_hash: str, packed: IO[bytes], trusted: bool) -> None:
    """Store a build archive from the current position of a stream; an existing one is kept.

    All of it is stored, or nothing.

    Args:
        trusted: whether the organiser provided them.
    """
    storage = object_storage.storage_of(engine)
    try:
        if storage is None:
            _keep_in_database(engine, content_hash, packed, trusted)
        else:
            _keep_as_object(engine, storage, content_hash, packed, trusted)
    except exc.IntegrityError:
        # Another process has stored the same content meanwhile.
        if find_build(engine, content_hash) is None:
            raise


def _keep_in_database(engine: Engine, content_hash: str, packed: IO[bytes], trusted: bool) -> None:
    with writing(engine, "keep_crate") as connection:
        digest, pieces, size = insert_pieces(connection, content_hash, packed)
        connection.execute(
            insert(schema.crates).values(
                content_hash=content_hash,
                digest=digest,
                pieces=pieces,
                bytes=size,
                trusted=int(trusted),
                created=now(),
            )
        )


def insert_pieces(
    connection: Connection, content_hash: str, packed: IO[bytes]
) -> tuple[str, int, int]:
    """Insert the pieces of a build archive; return its SHA-256, their number and its size."""
    total, count, size = hashlib.sha256(), 0, 0
    while piece := packed.read(PIECE):
        row = {"content_hash": content_hash, "number": count, "data": piece}
        connection.execute(insert(schema.crate_pieces).values(row))
        total.update(piece)
        count, size = count + 1, size + len(piece)
    return total.hexdigest(), count, size


def _keep_as_object(
    engine: Engine, storage: ObjectStorage, content_hash: str, packed: IO[bytes], trusted: bool
) -> None:
    written = stored_objects.write(engine, storage, ObjectKind.BUILD, content_hash, packed)
    try:
        with writing(engine, "keep_object") as connection:
            connection.execute(
                insert(schema.crates).values(
                    content_hash=content_hash,
                    digest=written.digest,
                    pieces=0,
                    bytes=written.bytes,
                    trusted=int(trusted),
                    created=now(),
                )
            )
            stored_objects.settle(connection, written.key)
    except exc.IntegrityError:
        stored_objects.discard(engine, written.key)
        raise


def find_build(engine: Engine, content_hash: str) -> StoredBuild | None:
    """Return the stored build archive of a content hash; None without one."""
    table = schema.crates
    query = select(*table.c["digest", "bytes", "trusted", "pieces"]).where(
        table.c.content_hash == content_hash
    )
    with reading(engine) as connection:
        row = connection.execute(query).one_or_none()
        if row is None:
            return None
        stored = None
        if row.pieces == 0:
            stored = stored_objects.find_object(connection, ObjectKind.BUILD, content_hash)
    key = "" if stored is None else stored.key
    return StoredBuild(content_hash, row.digest, row.bytes, bool(row.trusted), key)


def trust(engine: Engine, content_hash: str) -> None:
    """Mark a build archive as trusted, because the organiser has added the same content."""
    table = schema.crates
    with writing(engine, "trust_crate") as connection:
        connection.execute(
            update(table).where(table.c.content_hash == content_hash).values(trusted=1)
        )


def fetch(engine: Engine, build: StoredBuild, output: IO[bytes]) -> None:
    """Write the packed bytes of a build archive to a stream.

    Raises:
        StoreError: their hash is not the stored one, or the object storage cannot be used.
    """
    if build.key:
        for piece in object_storage.needed(engine).read(build.key, build.digest):
            output.write(piece)
        return
    total = hashlib.sha256()
    for piece in _pieces(engine, build.content_hash):
        total.update(piece)
        output.write(piece)
    if total.hexdigest() != build.digest:
        raise StoreError(
            f"the stored files of {build.content_hash[:12]}… are damaged; add the bot once more "
            "where its folder is.",
            code="files-damaged",
        )


def _pieces(engine: Engine, content_hash: str) -> Iterator[bytes]:
    table = schema.crate_pieces
    query = select(table.c.data).where(table.c.content_hash == content_hash)
    number = 0
    while True:
        piece = read_rows(engine, query.where(table.c.number == number)).scalar_one_or_none()
        if piece is None:
            return
        yield bytes(piece)
        number += 1
