"""The files of hosted versions, for machines that have only the database: one crate a content.

Crates are kept in pieces, so that nobody holds a large one in memory at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from sqlalchemy import Engine, exc, insert, select, update

from arena.store import schema
from arena.store.database import now, reading, writing
from arena.store.errors import StoreError

PIECE: Final = 1 << 20
"""Bytes of a piece."""


@dataclass(frozen=True, slots=True)
class Crate:
    """The files of a version as they are kept."""

    content_hash: str
    digest: str
    """SHA-256 of the packed bytes."""
    bytes: int
    trusted: bool
    """False: only strangers have sent it."""


def keep(engine: Engine, content_hash: str, packed: IO[bytes], trusted: bool) -> None:
    """Keeps a crate, which is read from where it stands; if there is one already, that stays.

    All of it is kept, or nothing.
    """
    try:
        with writing(engine, "keep_crate") as connection:
            total, count, size = hashlib.sha256(), 0, 0
            while piece := packed.read(PIECE):
                row = {"content_hash": content_hash, "number": count, "data": piece}
                connection.execute(insert(schema.crate_pieces).values(row))
                total.update(piece)
                count, size = count + 1, size + len(piece)
            connection.execute(
                insert(schema.crates).values(
                    content_hash=content_hash,
                    digest=total.hexdigest(),
                    pieces=count,
                    bytes=size,
                    trusted=int(trusted),
                    created=now(),
                )
            )
    except exc.IntegrityError:
        # Somebody else has kept the same content meanwhile.
        if find(engine, content_hash) is None:
            raise


def find(engine: Engine, content_hash: str) -> Crate | None:
    """What is kept of a content; None if nothing is."""
    table = schema.crates
    query = select(table.c.digest, table.c.bytes, table.c.trusted).where(
        table.c.content_hash == content_hash
    )
    with reading(engine) as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else Crate(content_hash, row.digest, row.bytes, bool(row.trusted))


def trust(engine: Engine, content_hash: str) -> None:
    """Notes that a crate is not from strangers only: the organiser has named the same content."""
    table = schema.crates
    with writing(engine, "trust_crate") as connection:
        connection.execute(
            update(table).where(table.c.content_hash == content_hash).values(trusted=1)
        )


def fetch(engine: Engine, crate: Crate, output: IO[bytes]) -> None:
    """Writes a crate's packed bytes.

    Raises:
        StoreError: they are not the ones that were kept.
    """
    total = hashlib.sha256()
    for piece in _pieces(engine, crate.content_hash):
        total.update(piece)
        output.write(piece)
    if total.hexdigest() != crate.digest:
        raise StoreError(
            f"the stored files of {crate.content_hash[:12]}… are damaged; add the bot once more "
            "where its folder is."
        )


def _pieces(engine: Engine, content_hash: str) -> Iterator[bytes]:
    table = schema.crate_pieces
    query = select(table.c.data).where(table.c.content_hash == content_hash)
    number = 0
    while True:
        with reading(engine) as connection:
            piece = connection.execute(query.where(table.c.number == number)).scalar_one_or_none()
        if piece is None:
            return
        yield bytes(piece)
        number += 1
