"""A process of the author's bot, on the author's machine and with all its rights."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.system import file_tree, parent_death_signal

GRACE_SECONDS: Final = 1.0
"""How long it may take to end when it is asked to."""


@dataclass(frozen=True, slots=True)
class Command:
    """What runs the bot: words, the first of them the path of a program, and where."""

    words: tuple[str, ...]
    folder: Path


class BotProcess:
    """One process of the bot. What it prints goes to standard error."""

    def __init__(self, command: Command, ended: Callable[[str], None]) -> None:
        self._command = command
        self._ended = ended
        self._home = Path(tempfile.mkdtemp(prefix="pokearena-bot-"))
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self.clause = ""
        """How it ended by itself; empty while it runs."""

    @property
    def address(self) -> str:
        """Where it is to listen."""
        return f"unix:{self._home / 'bot'}"

    async def start(self) -> None:
        """Starts it. What cannot be started is taken as ended."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *parent_death_signal.leashed(self._command.words),
                cwd=self._command.folder,
                env={**os.environ, "POKEARENA_ADDRESS": self.address},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,
                # Ctrl-C in the terminal is for the connector: tables at hand are finished.
                start_new_session=True,
            )
        except OSError as error:
            self._say(f"could not be started: {error.strerror}")
            return
        self._watch = asyncio.create_task(self._wait())

    async def settled(self, seconds: float) -> None:
        """Waits a moment for the end of a process that does not answer any more."""
        if self._watch is not None:
            await asyncio.wait({self._watch}, timeout=seconds)

    async def close(self) -> None:
        """Ends it and all that it has started."""
        if self._watch is not None:
            self._signal(signal.SIGTERM)
            await asyncio.wait({self._watch}, timeout=GRACE_SECONDS)
            self._signal(signal.SIGKILL)
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        file_tree.remove(self._home)

    def _signal(self, number: int) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    async def _wait(self) -> None:
        assert self._process is not None
        status = await self._process.wait()
        if status >= 0:
            self._say(f"exited with status {status}")
        else:
            self._say(f"was killed by {_name(-status)}")

    def _say(self, clause: str) -> None:
        self.clause = clause
        self._ended(clause)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
