"""The files of hosted versions: beside whoever plays them, or on their way there by the store.

On the machine where a version was added they are in the data folder. If the store is one that
other machines may use, they are in it too, and a machine that is to play the version fetches them
into its own data folder: there `versions/` is a cache (arena.bots.version_cache).
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

from sqlalchemy import Engine, exc, insert, select, update

from arena.bots import build_archive, version_cache
from arena.bots.bot import Bot
from arena.bots.resolver import from_folder, strangers
from arena.errors import BotError, StoreError
from arena.store import schema
from arena.store.bots import versions
from arena.store.database import now, reading, writing

# The files of hosted versions, for machines that have only the database: one crate a content.
#
# Crates are kept in pieces, so that nobody holds a large one in memory at once.


PIECE: Final = 1 << 20
"""Bytes of a piece."""


@dataclass(frozen=True, slots=True)
class StoredBuild:
    """The files of a version as they are kept."""

    content_hash: str
    digest: str
    """SHA-256 of the packed bytes."""
    bytes: int
    trusted: bool
    """False: only strangers have sent it."""


def keep_build(engine: Engine, content_hash: str, packed: IO[bytes], trusted: bool) -> None:
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


def find(engine: Engine, content_hash: str) -> StoredBuild | None:
    """What is kept of a content; None if nothing is."""
    table = schema.crates
    query = select(table.c.digest, table.c.bytes, table.c.trusted).where(
        table.c.content_hash == content_hash
    )
    with reading(engine) as connection:
        row = connection.execute(query).one_or_none()
    return (
        None if row is None else StoredBuild(content_hash, row.digest, row.bytes, bool(row.trusted))
    )


def trust(engine: Engine, content_hash: str) -> None:
    """Notes that a crate is not from strangers only: the organiser has named the same content."""
    table = schema.crates
    with writing(engine, "trust_crate") as connection:
        connection.execute(
            update(table).where(table.c.content_hash == content_hash).values(trusted=1)
        )


def fetch(engine: Engine, crate: StoredBuild, output: IO[bytes]) -> None:
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


_TRIES: Final = 5

log = logging.getLogger("arena.files")


def keep(engine: Engine, bot: Bot) -> None:
    """Puts the files of an archived version into the store, unless they are there.

    Raises:
        BotError: it is too large to be sent around.
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
    """Puts into the store what is here and not there yet: the arena was one machine until now."""
    for version in versions.listing(engine, retired=True):
        folder = Path(version.folder)
        if not version.folder or not folder.is_dir():
            continue
        try:
            keep(engine, from_folder(folder, version.id, version.content_hash))
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
    """A hosted version, with its files on this machine.

    content: its hash. noted: its folder on the machine where it was added. where: the folder of
    the versions here; what is nowhere else is fetched into it. stay: until it is closed nobody
    takes the files away to make room; None: they are not kept from that. most: bytes of what was
    fetched ever, down to which room is made when something is; None: none is made.

    Raises:
        BotError: its files cannot be had. StoreError, OSError.
    """
    if stay is None:
        with contextlib.ExitStack() as briefly:
            return bot(engine, label, content, noted, where, briefly, most)
    folder = where / content
    if _holds(folder, stay):
        version_cache.note_use(folder)
        return from_folder(folder, label, content)
    if Path(noted).is_dir():
        return from_folder(Path(noted), label, content)
    for _ in range(_TRIES):
        _fetch(engine, label, content, folder)
        # Somebody else may have fetched it too, and taken it away again.
        if _holds(folder, stay):
            version_cache.note_fetched(folder)
            if most is not None:
                _make_room(engine, where, most)
            return from_folder(folder, label, content)
    raise BotError(f"the files of {label} are taken away as soon as they are fetched.")


def _make_room(engine: Engine, where: Path, most: int) -> None:
    try:
        gone = version_cache.make_room(
            where, most, lambda content: find(engine, content) is not None
        )
    except OSError as error:
        log.warning("no room was made in %s: %s", where, error)
        return
    if gone:
        log.info("versions that were taken away to make room: %d", len(gone))


def _holds(folder: Path, stay: contextlib.ExitStack) -> bool:
    descriptor = version_cache.held(folder)
    if descriptor is None:
        return False
    stay.callback(os.close, descriptor)
    return True


def _fetch(engine: Engine, label: str, content: str, folder: Path) -> None:
    found = find(engine, content)
    if found is None:
        raise BotError(
            f"the files of {label} are neither here ({folder}) nor in the store; start"
            " `pokearena serve` once on the machine where the bot was added, or add it again."
        )
    with tempfile.TemporaryFile() as packed:
        fetch(engine, found, packed)
        packed.seek(0)
        if found.trusted:
            strangers(folder).unlink(missing_ok=True)
        else:
            folder.parent.mkdir(parents=True, exist_ok=True)
            strangers(folder).touch()
        build_archive.unpack(packed, folder.parent, content)
    log.info("%s: its files were fetched from the store, %d KiB packed", label, found.bytes >> 10)
