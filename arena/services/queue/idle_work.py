"""Work of a worker in a process of its own while no match waits."""

from __future__ import annotations

import logging
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from arena.services.queue.forked_process import ForkedProcess

_LONGEST_SECONDS: Final = 60.0
"""Time in seconds for which the next match of a busy worker waits at most."""

log = logging.getLogger("arena.worker")


class IdlePermission:
    """Permission to do idle work: given if a pipe that both processes share holds a byte."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def give(self) -> None:
        """Let the idle work continue."""
        os.write(self._write_end, b"o")

    def withdraw(self) -> None:
        """Stop the idle work at its next call of `wait`."""
        os.read(self._read_end, 1)

    def wait(self) -> None:
        """Wait until the permission is given."""
        select.select([self._read_end], [], [])


class IdleWork:
    """Work in a process of its own while the worker waits for matches; it pauses during a match.

    A ladder can keep the workers busy for ever, so a busy worker pauses for a piece of work, too.

    Args:
        work: does one piece of work, and often waits for the permission.
        busy_seconds: seconds without a begin after which the work precedes the next match.
    """

    pause: Final = 10
    """A piece of work begins after this time, in seconds, without a match."""

    def __init__(self, work: Callable[[IdlePermission], None], busy_seconds: float = 300.0) -> None:
        self._busy_seconds = busy_seconds
        self._begun = time.monotonic()
        self._permission = IdlePermission()
        self._process = ForkedProcess(lambda drain: work(self._permission))

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let the work run within this context."""
        self._permission.give()
        try:
            yield
        finally:
            self._permission.withdraw()

    def __enter__(self) -> None:
        """Do nothing; the work begins when the worker waits."""

    def __exit__(self, *error: object) -> None:
        """Kill the process of a piece of work."""
        self._process.end()

    def begin(self) -> None:
        """Start a piece of work unless one runs."""
        self._begun = time.monotonic()
        if self._process.pid and not self._process.has_exited(0):
            return
        if not self._process.end():
            log.warning("the process of idle work ended unexpectedly")
        self._process.start()

    def catch_up(self, alive: Callable[[], object]) -> None:
        """Do a piece of work now, if none has begun for long; call `alive` every 5 s."""
        if time.monotonic() - self._begun < self._busy_seconds:
            return
        self.begin()
        while time.monotonic() - self._begun < _LONGEST_SECONDS and not self._process.has_exited(5):
            alive()
