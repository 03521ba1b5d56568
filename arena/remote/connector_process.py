"""A process of the author's bot, run on the author's machine with the author's privileges."""

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

from arena.system import parent_death_signal, socket_paths, temporary_folder
from arena.system.process_info import signal_name

# The socket in it must stay under about 100 bytes.
_LONGEST_BASE: Final = 60
GRACE_SECONDS: Final = 1.0
"""Seconds between SIGTERM and SIGKILL when the process is closed."""


@dataclass(frozen=True, slots=True)
class Command:
    """Command line and working directory of the bot; `words[0]` is the path of the program."""

    words: tuple[str, ...]
    folder: Path


def _base() -> str:
    """Return the folder for the sockets of bots: the usual one, or /tmp if that is not plain."""
    base = tempfile.gettempdir()
    return base if len(base) <= _LONGEST_BASE and socket_paths.is_plain(base) else "/tmp"


class BotProcess:
    """One process of the bot. Its standard output is redirected to standard error.

    Args:
        command: the command line and working directory.
        ended: called with a clause when the process ends by itself or cannot be started.
    """

    def __init__(self, command: Command, ended: Callable[[str], None]) -> None:
        self._command = command
        self._ended = ended
        self._home = temporary_folder.create(Path(_base()), temporary_folder.PREFIX)
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self.clause = ""
        """How the process ended by itself; empty while it runs."""

    @property
    def address(self) -> str:
        """gRPC address at which the bot must listen; passed as `POKEARENA_ADDRESS`."""
        return f"unix:{self._home / 'bot'}"

    async def start(self) -> None:
        """Start the process. If that fails, report it through `ended` and do not raise an error."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *parent_death_signal.killed_with_parent(self._command.words),
                cwd=self._command.folder,
                env={**os.environ, "POKEARENA_ADDRESS": self.address},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,
                # Ctrl-C in the terminal is meant for the connector, which finishes the current
                # tables first.
                start_new_session=True,
            )
        except OSError as error:
            self._end_with(f"could not be started: {error.strerror}")
            return
        self._watch = asyncio.create_task(self._wait())

    async def settled(self, seconds: float) -> None:
        """Wait at most `seconds` for the exit of a process that does not answer any more."""
        if self._watch is not None:
            await asyncio.wait({self._watch}, timeout=seconds)

    async def close(self) -> None:
        """End the whole process group and remove the directory of its socket."""
        if self._watch is not None:
            self._signal(signal.SIGTERM)
            await asyncio.wait({self._watch}, timeout=GRACE_SECONDS)
            self._signal(signal.SIGKILL)
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        temporary_folder.remove(self._home)

    def _signal(self, number: int) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    async def _wait(self) -> None:
        assert self._process is not None
        status = await self._process.wait()
        if status >= 0:
            self._end_with(f"exited with status {status}")
        else:
            self._end_with(f"was killed by {signal_name(-status)}")

    def _end_with(self, clause: str) -> None:
        self.clause = clause
        self._ended(clause)
