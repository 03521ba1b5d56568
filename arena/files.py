"""The files of hosted versions: beside whoever plays them, or on their way there by the store.

On the machine where a version was added they are in the data folder. If the store is one that
other machines may use, they are in it too, and a machine that is to play the version fetches them
into its own data folder: there `versions/` is a cache (arena.bots.cache).
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.bots import cache, crate
from arena.bots.bot import Bot
from arena.bots.errors import BotError
from arena.bots.resolver import from_folder, strangers
from arena.store import crates, versions

if TYPE_CHECKING:
    from sqlalchemy import Engine

_TRIES: Final = 5

log = logging.getLogger("arena.files")


def keep(engine: Engine, bot: Bot) -> None:
    """Puts the files of an archived version into the store, unless they are there.

    Raises:
        BotError: it is too large to be sent around.
    """
    if bot.folder is None or not bot.content:
        return
    kept = crates.find(engine, bot.content)
    if kept is None:
        with tempfile.TemporaryFile() as packed:
            crate.pack(bot.folder, packed)
            packed.seek(0)
            crates.keep(engine, bot.content, packed, bot.trusted)
    elif bot.trusted and not kept.trusted:
        crates.trust(engine, bot.content)


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
        cache.note_use(folder)
        return from_folder(folder, label, content)
    if Path(noted).is_dir():
        return from_folder(Path(noted), label, content)
    for _ in range(_TRIES):
        _fetch(engine, label, content, folder)
        # Somebody else may have fetched it too, and taken it away again.
        if _holds(folder, stay):
            cache.note_fetched(folder)
            if most is not None:
                _make_room(engine, where, most)
            return from_folder(folder, label, content)
    raise BotError(f"the files of {label} are taken away as soon as they are fetched.")


def _make_room(engine: Engine, where: Path, most: int) -> None:
    try:
        gone = cache.make_room(
            where, most, lambda content: crates.find(engine, content) is not None
        )
    except OSError as error:
        log.warning("no room was made in %s: %s", where, error)
        return
    if gone:
        log.info("versions that were taken away to make room: %d", len(gone))


def _holds(folder: Path, stay: contextlib.ExitStack) -> bool:
    descriptor = cache.held(folder)
    if descriptor is None:
        return False
    stay.callback(os.close, descriptor)
    return True


def _fetch(engine: Engine, label: str, content: str, folder: Path) -> None:
    found = crates.find(engine, content)
    if found is None:
        raise BotError(
            f"the files of {label} are neither here ({folder}) nor in the store; start"
            " `pokearena serve` once on the machine where the bot was added, or add it again."
        )
    with tempfile.TemporaryFile() as packed:
        crates.fetch(engine, found, packed)
        packed.seek(0)
        if found.trusted:
            strangers(folder).unlink(missing_ok=True)
        else:
            folder.parent.mkdir(parents=True, exist_ok=True)
            strangers(folder).touch()
        crate.unpack(packed, folder.parent, content)
    log.info("%s: its files were fetched from the store, %d KiB packed", label, found.bytes >> 10)
