"""The files of hosted versions: beside whoever plays them, or on their way there by the store.

On the machine where a version was added they are in the data folder. If the store is one that
other machines may use, they are in it too, and a machine that is to play the version fetches them
into its own data folder, once: its `versions/` is a cache, which may be emptied while nothing
plays.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots import crate
from arena.bots.bot import Bot
from arena.bots.errors import BotError
from arena.bots.resolver import from_folder, strangers
from arena.store import crates, versions

if TYPE_CHECKING:
    from sqlalchemy import Engine

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


def bot(engine: Engine, label: str, content: str, noted: str, where: Path) -> Bot:
    """A hosted version, with its files on this machine.

    content: its hash. noted: its folder on the machine where it was added. where: the folder of
    the versions here; what is nowhere else is fetched into it.

    Raises:
        BotError: its files cannot be had. StoreError, OSError.
    """
    for folder in (where / content, Path(noted)):
        if folder.is_dir():
            return from_folder(folder, label, content)
    found = crates.find(engine, content)
    if found is None:
        raise BotError(
            f"the files of {label} are neither here ({where / content}) nor in the store; start"
            " `pokearena serve` once on the machine where the bot was added, or add it again."
        )
    with tempfile.TemporaryFile() as packed:
        crates.fetch(engine, found, packed)
        packed.seek(0)
        if not found.trusted:
            where.mkdir(parents=True, exist_ok=True)
            strangers(where / content).touch()
        crate.unpack(packed, where, content)
    log.info("%s: its files were fetched from the store, %d KiB packed", label, found.bytes >> 10)
    return from_folder(where / content, label, content)
