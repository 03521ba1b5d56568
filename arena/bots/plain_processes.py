"""Run the bot processes of one table without a sandbox, on systems other than Linux.

There only trusted bots run. A bot listens at a port of 127.0.0.1, because not all of these systems
have Unix sockets for gRPC. Any program on the machine can connect to this port while the bot runs.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from arena.bots.bot import Bot
from arena.bots.exit_report import Limits, Report, flooded
from arena.bots.sandbox import runtimes
from arena.bots.sandbox.level import Level, refusal
from arena.bots.socket_probe import listens
from arena.errors import BotError, InfrastructureError
from arena.system import parent_death_signal, process_info
from referee.sanitizing import quote, sanitized

if TYPE_CHECKING:
    from arena.bots.processes import Processes

HEAD_BYTES: Final = 4 << 10
"""Number of bytes kept of the begin of a bot's output."""
TAIL_BYTES: Final = 64 << 10
"""Number of bytes kept of the end of a bot's output."""
EXIT_SECONDS: Final = 0.3
"""Seconds to wait for the exit of a bot that no longer listens."""


def table_processes(
    on_end: Callable[[Report], None] = lambda report: None,
    on_lost: Callable[[str], None] = lambda sentence: None,
) -> Processes | PlainProcesses:
    """Return the runner of a table's bots: in the best sandbox on Linux, elsewhere without one.

    Args:
        on_end: called with the report of each process that ends without having been stopped.
        on_lost: called with a sentence if the runner fails.

    Raises:
        InfrastructureError: the sandbox level that the environment names is not available.
    """
    if sys.platform != "linux":
        return PlainProcesses(on_end)
    from arena.bots.processes import Processes
    from arena.bots.sandbox.available_levels import best_level

    return Processes(on_end, on_lost, level=best_level())


class PlainProcesses:
    """Starts, watches and ends bot processes. Safe to use from many threads."""

    level = Level.UNSANDBOXED

    def __init__(self, on_end: Callable[[Report], None] = lambda report: None) -> None:
        self._on_end = on_end
        self._limits = Limits()
        self._processes: list[_PlainProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, seat: int, bot: Bot) -> str:
        """Start a process for a seat and return the gRPC address at which it must listen.

        A program that cannot be started does not raise an error: it is reported as ended.

        Raises:
            InfrastructureError: the bot is not trusted.
        """
        if reason := refusal(bot.label, bot.trusted, self.level):
            raise InfrastructureError(reason, code="no-sandbox")
        process = _PlainProcess(seat, free_address(), self._limits, self._on_end)
        self._processes.append(process)
        process.start(bot)
        return process.address

    def report(self, seat: int, patience: float = EXIT_SECONDS) -> Report:
        """Return a report on the latest process of a seat.

        If it no longer listens, its exit is awaited for `patience` seconds.
        """
        process = next(each for each in reversed(self._processes) if each.seat == seat)
        if not listens(process.address):
            process.ended.wait(patience)
        return process.report()

    def stop(self, *seats: int) -> None:
        """End the processes of these seats with their descendants; return when they are gone."""
        for process in self._processes:
            if process.seat in seats:
                process.stop()

    def ends(self, seat: int) -> tuple[Report, ...]:
        """Return the reports of all ended processes of a seat, in the order of their starts."""
        ended = (each for each in self._processes if each.seat == seat and each.ended.is_set())
        return tuple(process.report() for process in ended)

    def close(self) -> None:
        """Kill all remaining processes."""
        for process in self._processes:
            process.stop()


class _PlainProcess:
    """A process of a bot, with a thread that reads its output and waits for its end."""

    def __init__(
        self, seat: int, address: str, limits: Limits, on_end: Callable[[Report], None]
    ) -> None:
        self.seat = seat
        self.address = address
        self.ended = threading.Event()
        self._limits = limits
        self._on_end = on_end
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._head, self._tail, self._written = b"", b"", 0
        self._failure = ""
        self._stopped = False

    def start(self, bot: Bot) -> None:
        try:
            self._process = subprocess.Popen(
                parent_death_signal.killed_with_parent(runtimes.bot_grants(bot).argv),
                cwd=bot.folder,
                env=os.environ | {"POKEARENA_ADDRESS": self.address},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, BotError) as error:
            self._failure = f"could not be started: {quote(str(error))}"
            self._finish()
            return
        name = f"bot-output-{self.seat}"
        self._reader = threading.Thread(target=self._read, name=name, daemon=True)
        self._reader.start()

    def stop(self) -> None:
        self._stopped = True
        self._kill()
        if self._reader is not None:
            self._reader.join()

    def report(self) -> Report:
        """Describe the process; `ended` of the report is empty while it runs."""
        output = sanitized(self._output())
        if not self.ended.is_set():
            return Report(self.seat, output=output)
        if self._process is None or self._failure:
            is_flood = self._process is not None
            return Report(self.seat, self._failure, is_flood, output)
        code = self._process.returncode
        if code < 0:
            name = process_info.signal_name(-code)
            return Report(self.seat, f"was killed by {name}", output=output, signal=name)
        return Report(self.seat, f"exited with status {code}", output=output, status=code)

    def _output(self) -> str:
        missing = self._written - len(self._head) - len(self._tail)
        gap = f"\n... {missing} bytes ...\n".encode() if missing else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            while data := os.read(stream.fileno(), 1 << 16):
                self._written += len(data)
                room = HEAD_BYTES - len(self._head)
                self._head += data[:room]
                self._tail = (self._tail + data[room:])[-TAIL_BYTES:]
                if self._written > self._limits.output and not self._failure:
                    self._failure = flooded(self._limits)
                    self._kill()
        self._process.wait()
        # Descendants that closed their output may remain.
        self._kill()
        self._finish()

    def _finish(self) -> None:
        self.ended.set()
        if not self._stopped:
            self._on_end(self.report())

    def _kill(self) -> None:
        if self._process is not None:
            process_info.kill_group(self._process)


def free_address() -> str:
    """Return "127.0.0.1:PORT" with a free port; another program could take it before the bot."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"
