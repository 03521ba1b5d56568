"""Files of hosted versions: find them on this machine, or transfer them through the store.

On the machine where a version was added, its files are in the data folder. If other machines can
use the store, it also holds the files. A machine that plays the version then fetches them into its
own data folder, where `versions/` is a cache (`arena.bots.version_store`).

The store holds them as build archives: in the object storage if one is set, else in the database.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from arena.bots import build_archive, version_cache
from arena.bots.bot import Bot
from arena.bots.resolver import from_folder, strangers
from arena.errors import BotError
from arena.store.bots import stored_builds, versions
from arena.store.objects.object_storage import ObjectStorageError
from arena.system import private_files

_FETCH_ATTEMPTS: Final = 5

log = logging.getLogger("arena.files")


def keep(engine: Engine, bot: Bot) -> None:
    """Store the files of an archived version, unless they are stored.

    Raises:
        BotError: they are too large to be stored.
    """
    if bot.folder is None or not bot.content:
        return
    kept = stored_builds.find_build(engine, bot.content)
    if kept is None:
        with tempfile.TemporaryFile() as packed:
            build_archive.pack(bot.folder, packed)
            packed.seek(0)
            stored_builds.keep_build(engine, bot.content, packed, bot.trusted)
    elif bot.trusted and not kept.trusted:
        stored_builds.trust(engine, bot.content)


def keep_all(engine: Engine) -> None:
    """Store the files that exist only here, when the arena opens to others or gets a storage."""
    for version in versions.list_versions(engine, retired=True):
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
    if _protect(folder, stay):
        version_cache.note_use(folder)
        return from_folder(folder, label, content)
    if Path(noted).is_dir():
        return from_folder(Path(noted), label, content)
    for _ in range(_FETCH_ATTEMPTS):
        _fetch(engine, label, content, folder)
        # Another process may have fetched the files too, and evicted them again.
        if _protect(folder, stay):
            version_cache.note_fetched(folder)
            if most is not None:
                _make_room(engine, where, most)
            return from_folder(folder, label, content)
    raise BotError(f"the files of {label} are taken away as soon as they are fetched.")


def _make_room(engine: Engine, where: Path, most: int) -> None:
    try:
        evicted = version_cache.make_room(
            where, most, lambda content: stored_builds.find_build(engine, content) is not None
        )
    except OSError as error:
        log.warning("no room was made in %s: %s", where, error)
        return
    if evicted:
        log.info("versions that were taken away to make room: %d", len(evicted))


def _protect(folder: Path, stay: contextlib.ExitStack) -> bool:
    """Protect a folder from eviction until `stay` closes; return False if it does not exist."""
    descriptor = version_cache.held(folder)
    if descriptor is None:
        return False
    stay.callback(os.close, descriptor)
    return True


def _fetch(engine: Engine, label: str, content: str, folder: Path) -> None:
    stored = stored_builds.find_build(engine, content)
    if stored is None:
        raise BotError(
            f"the files of {label} are neither here ({folder}) nor in the store; start"
            " `pokearena serve` once on the machine where the bot was added, or add it again.",
            code="files-missing",
        )
    with tempfile.TemporaryFile() as packed:
        stored_builds.fetch(engine, stored, packed)
        packed.seek(0)
        if stored.trusted:
            strangers(folder).unlink(missing_ok=True)
        else:
            private_files.create_folder(folder.parent)
            private_files.create_file(strangers(folder))
        build_archive.unpack(packed, folder.parent, content)
    log.info("%s: its files were fetched from the store, %d KiB packed", label, stored.bytes >> 10)
