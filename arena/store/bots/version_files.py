"""Files of hosted versions: find them on this machine, or transfer them through the store.

On the machine where a version was added, its files are in the data folder. If other machines can
use the store, it also holds the files. A machine that plays the version then fetches them into its
own data folder, where `versions/` is a cache (`arena.bots.version_store`).

The store holds them as build archives: in the object storage if one is set, else in the database.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from sqlalchemy import Connection, Engine, exc, insert, select, update

from arena.bots import build_archive, version_store
from arena.bots.bot import Bot
from arena.bots.resolver import from_folder, strangers
from arena.errors import BotError, StoreError
from arena.store import schema
from arena.store.bots import versions
from arena.store.database import now, reading, writing
from arena.store.objects import object_storage, stored_objects
from arena.store.objects.object_storage import ObjectStorage, ObjectStorageError
from arena.store.schema import ObjectKind

# Build archives, for machines that have only the store: one archive for each content hash. The
# database holds them in pieces, so that a process never loads a large one into memory as a whole.


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
        engine: the store.
        content_hash: the content of the version.
        packed: the packed bytes.
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
        if find(engine, content_hash) is None:
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


def find(engine: Engine, content_hash: str) -> StoredBuild | None:
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
            stored = stored_objects.find(connection, ObjectKind.BUILD, content_hash)
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
        with reading(engine) as connection:
            piece = connection.execute(query.where(table.c.number == number)).scalar_one_or_none()
        if piece is None:
            return
        yield bytes(piece)
        number += 1


_TRIES: Final = 5

log = logging.getLogger("arena.files")


def keep(engine: Engine, bot: Bot) -> None:
    """Store the files of an archived version, unless they are stored.

    Raises:
        BotError: they are too large to be stored.
    """
    if bot.folder is None or not bot.content:
        return
    kept = find(engine, bot.content)
    if kept is None:
        with tempfile.TemporaryFile() as packed:
            build_archive.pack(bot.folder, packed)
            packed.seek(0)
            keep_build(engine, bot.content, packed, bot.trusted)
    elif bot.trusted and not kept.trusted:
        trust(engine, bot.content)


def keep_all(engine: Engine) -> None:
    """Store the files that exist only here, when the arena opens to others or gets a storage."""
    for version in versions.listing(engine, retired=True):
        folder = Path(version.folder)
        if not version.folder or not folder.is_dir():
            continue
        try:
            keep(engine, from_folder(folder, version.id, version.content_hash))
        except ObjectStorageError as error:
            log.warning("the files of bots are not stored; the next start tries again: %s", error)
            return
        except (BotError, OSError) as error:
            log.warning("other machines cannot play %s: %s", version.id, error)


def bot(
    engine: Engine,
    label: str,
    content: str,
    noted: str,
    where: Path,
    stay: contextlib.ExitStack | None = None,
    most: int | None = None,
) -> Bot:
    """Return a hosted version, with its files on this machine.

    Args:
        engine: the store.
        label: the version as ``name@number``.
        content: its content hash.
        noted: its folder on the machine where it was added.
        where: the folder of versions on this machine; missing files are fetched into it.
        stay: until it closes, the files are protected from eviction. None: they are not protected.
        most: size limit in bytes of all fetched files; the cache is trimmed after a fetch.
            None: no limit.

    Raises:
        BotError: the files are not available.
        StoreError: the stored files are damaged.
        OSError: the files cannot be written.
    """
    if stay is None:
        with contextlib.ExitStack() as briefly:
            return bot(engine, label, content, noted, where, briefly, most)
    folder = where / content
    if _holds(folder, stay):
        version_store.note_use(folder)
        return from_folder(folder, label, content)
    if Path(noted).is_dir():
        return from_folder(Path(noted), label, content)
    for _ in range(_TRIES):
        _fetch(engine, label, content, folder)
        # Another process may have fetched the files too, and evicted them again.
        if _holds(folder, stay):
            version_store.note_fetched(folder)
            if most is not None:
                _make_room(engine, where, most)
            return from_folder(folder, label, content)
    raise BotError(f"the files of {label} are taken away as soon as they are fetched.")


def _make_room(engine: Engine, where: Path, most: int) -> None:
    try:
        gone = version_store.make_room(
            where, most, lambda content: find(engine, content) is not None
        )
    except OSError as error:
        log.warning("no room was made in %s: %s", where, error)
        return
    if gone:
        log.info("versions that were taken away to make room: %d", len(gone))


def _holds(folder: Path, stay: contextlib.ExitStack) -> bool:
    descriptor = version_store.held(folder)
    if descriptor is None:
        return False
    stay.callback(os.close, descriptor)
    return True


def _fetch(engine: Engine, label: str, content: str, folder: Path) -> None:
    stored = find(engine, content)
    if stored is None:
        raise BotError(
            f"the files of {label} are neither here ({folder}) nor in the store; start"
            " `pokearena serve` once on the machine where the bot was added, or add it again.",
            code="files-missing",
        )
    with tempfile.TemporaryFile() as packed:
        fetch(engine, stored, packed)
        packed.seek(0)
        if stored.trusted:
            strangers(folder).unlink(missing_ok=True)
        else:
            folder.parent.mkdir(parents=True, exist_ok=True)
            strangers(folder).touch()
        build_archive.unpack(packed, folder.parent, content)
    log.info("%s: its files were fetched from the store, %d KiB packed", label, stored.bytes >> 10)
