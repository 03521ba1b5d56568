"""A bot that has been found: what it is called, and how to run or reach it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.bots.manifest import FILE, STDIO, Manifest
from arena.errors import BotError

if TYPE_CHECKING:
    from arena.remote.tunnel.streams import TunnelEndpoint

BRIDGE: Final = (sys.executable, "-I", "-m", "arena.bots.stdio", "--")
"""What stands before the command of a bot that reads and writes lines."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A hosted bot (``manifest`` and ``folder``) or a remote one (``address`` or ``desk``)."""

    label: str
    """What people call it here: "greedy", "greedy@2", "grpc://10.0.0.5:7000"."""
    manifest: Manifest | None = None
    folder: Path | None = None
    file: str | None = None
    """The one file of ``folder`` that is the whole bot; None if the folder is the bot."""
    manifest_file: str = FILE
    """The file of ``folder`` that holds ``manifest``; another than bot.toml where several bots
    share a folder."""
    address: str | None = None
    """gRPC address of a remote bot, "10.0.0.5:7000" or "unix:/path"."""
    desk: str | None = None
    """Of a remote bot that connects to a relay: where that one takes orders for seats; empty if
    it has never been connected."""
    way: TunnelEndpoint | None = None
    """How its relay is reached, if that is on another machine."""
    awaited: bool = True
    """Whether a table waits for it if it is not there; else it has not started in time."""
    content: str = ""
    """Content hash of an archived version; empty for any other bot."""
    trusted: bool = True
    """Whether it may run unsandboxed: it comes with the arena, or the organiser or author of it
    named it here. What came over the network may not."""

    @property
    def remote(self) -> bool:
        """Whether it runs at its author's, where nothing of it can be started or reset."""
        return self.address is not None or self.desk is not None

    @property
    def language(self) -> str:
        """The language its manifest names, or an empty text."""
        return self.manifest.language if self.manifest else ""

    def plays(self, game: str) -> bool:
        """Whether it says that it plays this game; a remote bot is taken to play any."""
        return self.manifest is None or self.manifest.plays(game)


def told_apart(bots: Iterable[Bot]) -> tuple[Bot, ...]:
    """The same bots with labels that are all different: "greedy" and "greedy-2"."""
    labels: set[str] = set()
    apart = []
    for bot in bots:
        numbered = (f"{bot.label}-{number}" for number in count(2))
        label = next(label for label in chain([bot.label], numbered) if label not in labels)
        labels.add(label)
        apart.append(replace(bot, label=label))
    return tuple(apart)


def command(bot: Bot) -> tuple[str, ...]:
    """The command that runs a hosted bot, its first word the path of a program.

    Raises:
        BotError: there is no such program.
    """
    if bot.manifest is None or bot.folder is None:
        raise BotError(f"{bot.label} is a remote bot; there is nothing to run.")
    words = program(bot.manifest.run, bot.folder)
    return (*BRIDGE, *words) if bot.manifest.transport == STDIO else words


def program(words: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """A command of a manifest with the path of its program in the place of its name.

    "python" is the one of the folder's own ``.venv``, or else the one that runs the arena.

    Raises:
        BotError: there is no such program.
    """
    name = words[0]
    if name in ("python", "python3"):
        own = folder / ".venv" / "bin" / "python"
        return (str(own) if own.exists() else sys.executable, *words[1:])
    if "/" in name:
        return (str(folder / name), *words[1:])
    found = shutil.which(name)
    if found is None:
        own_file = folder / name
        hint = f'; for the file of this name in the folder write "./{name}"'
        raise BotError(
            f'there is no program "{name}" on the PATH of the arena'
            f"{hint if own_file.exists() else ''}"
        )
    return (found, *words[1:])
