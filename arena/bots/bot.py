"""A resolved bot: its label, and how to run it or connect to it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena import config
from arena.bots.manifest import FILE, Manifest

if TYPE_CHECKING:
    from arena.system.tunnel.endpoint import TunnelEndpoint

BRIDGE: Final = (sys.executable, "-I", "-m", "arena.bots.stdio", "--")
"""Command prefix for a bot that reads and writes lines."""


HUMAN: Final = "human"
"""The name of a person at a table. No bot can be registered with this name."""
UNTIMED_MS: Final = (1 << 32) - 1
"""Time bank of a person without a time limit: the largest of the protocol, 49 days."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A hosted bot (``manifest`` and ``folder``) or a remote one (``address`` or ``relay``).

    A person at a table is a remote bot with ``person``: `arena.matches.human_seats` sets its
    address when the match begins.
    """

    label: str
    """Name shown to users: "greedy", "greedy@2", "grpc://10.0.0.5:7000"."""
    manifest: Manifest | None = None
    folder: Path | None = None
    file: str | None = None
    """The single file of ``folder`` that is the whole bot; None if the folder is the bot."""
    manifest_file: str = FILE
    """The file of ``folder`` that holds ``manifest``.

    It differs from bot.toml if several bots share a folder.
    """
    address: str | None = None
    """gRPC address of a remote bot, "10.0.0.5:7000" or "unix:/path"."""
    relay: str | None = None
    """Control address of the relay that a remote bot connects to.

    Empty if the bot has never connected.
    """
    tunnel: TunnelEndpoint | None = None
    """Tunnel endpoint of that relay, if it runs on another machine."""
    awaited: bool = True
    """Whether a table waits for an offline bot; otherwise the bot counts as not started in time."""
    content: str = ""
    """Content hash of a version in the version store; empty for any other bot."""
    trusted: bool = True
    """Whether it may run unsandboxed.

    True for house bots and bots named locally by the organiser or author; false for bots received
    over the network.
    """

    network_key: str | None = None
    """Name of the environment variable with the key of its model; "" if it needs none.

    None for a sandboxed bot. Any other value lets it run without a sandbox, with the network: only
    its author grants that, for a match on the author's machine (`arena.cli.bots.registration`).
    """

    model_socket: Path | None = None
    """Socket of the endpoint with its models at a table; None if it has none."""

    person: bool = False
    """Whether a person chooses its actions."""
    partner: Bot | None = None
    """The bot that plays the other seats of a person's side."""
    bank_ms: int | None = None
    """Its time bank of a table in milliseconds; None for that of the match."""

    @property
    def remote(self) -> bool:
        """Return whether the arena does not run it, so that it cannot be started or reset."""
        return self.person or self.address is not None or self.relay is not None

    @property
    def language(self) -> str:
        """Return the language in its manifest, or an empty text."""
        return self.manifest.language if self.manifest else ""

    def plays(self, game: str) -> bool:
        """Return whether its manifest allows this game; a remote bot plays any game."""
        return self.manifest is None or self.manifest.plays(game)


def granted_start_ms(bot: Bot, start_ms: int) -> int:
    """Return the milliseconds that a bot has to start.

    That is `start_ms` of the match, or more if its manifest requests it, up to the limit of the
    organiser.

    Raises:
        SettingError: the organiser's limit is not valid.
    """
    requested = bot.manifest.start_ms if bot.manifest else 0
    return max(start_ms, min(requested, config.most_start_ms())) if requested else start_ms


def with_unique_labels(bots: Iterable[Bot]) -> tuple[Bot, ...]:
    """Return the bots with unique labels, by adding numbers: "greedy" and "greedy-2"."""
    labels: set[str] = set()
    apart = []
    for bot in bots:
        numbered = (f"{bot.label}-{number}" for number in count(2))
        label = next(label for label in chain([bot.label], numbered) if label not in labels)
        labels.add(label)
        apart.append(replace(bot, label=label))
    return tuple(apart)
