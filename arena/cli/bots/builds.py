"""Build an author's bots in their own folders when their files have changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.build import Report, build
from arena.bots.version_store import FETCHED, content_hash
from arena.cli.output import long_operation

if TYPE_CHECKING:
    from arena.bots.bot import Bot
    from arena.cli.workspace import Workspace


def up_to_date(workspace: Workspace, bot: Bot) -> Bot:
    """Build the bot if necessary and return it; stored versions are already built.

    The hash of the state after the last build is kept in the data folder.

    Raises:
        BotError: the build failed.
    """
    if bot.manifest is None or bot.folder is None or bot.content or not bot.manifest.build:
        return bot
    known = _note(workspace, bot)
    with contextlib.suppress(FileNotFoundError):
        if known.read_text(encoding="ascii") == _state(bot, bot.folder):
            return bot
    with building(bot) as report:
        build(bot.manifest, bot.folder, report=report)
    workspace.folder.create()
    known.parent.mkdir(mode=0o700, exist_ok=True)
    known.write_text(_state(bot, bot.folder), encoding="ascii")
    return bot


def building(bot: Bot) -> contextlib.AbstractContextManager[Report]:
    """Print the progress of a build, unless it is quick; yield a function that receives lines."""
    commands = bot.manifest.build if bot.manifest else ()
    if not commands:
        return contextlib.nullcontext(lambda line: None)
    words = " && ".join(map(shlex.join, commands))
    return long_operation(f"building {bot.label}: {words}")


def _note(workspace: Workspace, bot: Bot) -> Path:
    """Return the file that holds the hash of the bot's state after its last build here."""
    where = hashlib.sha256(f"{bot.folder}\n{bot.manifest_file}".encode()).hexdigest()
    return workspace.folder.root / "builds" / where[:32]


def _state(bot: Bot, folder: Path) -> str:
    """Return the hash of a bot's files and of the file names that building left behind.

    The bot is built again if the hash differs.
    """
    left = [
        (name, sorted(os.listdir(folder / name)))
        for name in sorted(FETCHED | {".venv"})
        if (folder / name).is_dir()
    ]
    return hashlib.sha256(f"{content_hash(bot)}\n{left}".encode()).hexdigest()
