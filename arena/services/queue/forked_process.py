"""A child process, forked for one match or one piece of idle work."""

from __future__ import annotations

import logging
import os
import random
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from arena.system import parent_death_signal
from arena.system.stop_event import StopEvent

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger("arena.worker")


class Drain(StopEvent):
    """Set when the worker must stop: finish the current game and release the match."""


class ForkedProcess:
    """A child process for one match or one piece of idle work; it dies with this process.

    Args:
        work: runs in the child until it is done or the given event is set.
    """

    def __init__(self, work: Callable[[Drain], None]) -> None:
        self._work = work
        self._drain = Drain()
        self._pid = 0
        self._end_of_life = -1

    @property
    def pid(self) -> int:
        """Process id; 0 unless the process runs."""
        return self._pid

    def start(self) -> None:
        """Fork the process.

        Stop signals are blocked meanwhile: the child must not run the handlers of this process, and
        the handlers of this process need the child's process id.
        """
        # Only the child holds the write end, so the read end reports its exit.
        self._end_of_life, write_end = os.pipe()
        parent = os.getpid()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        try:
            pid = os.fork()
            if pid == 0:
                self._run(parent, mask)
            self._pid = pid
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(write_end)

    def _run(self, parent: int, mask: set[signal.Signals | int]) -> None:
        """Do the work in the child process. Does not return."""
        status = 1
        try:
            # Ctrl-C in the terminal must not reach the bots.
            os.setpgrp()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, lambda number, frame: self._drain.set())
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            parent_death_signal.die_with_parent(parent)
            random.seed()
            self._work(self._drain)
            status = 0
        except BaseException:
            log.exception("the forked process failed unexpectedly")
        finally:
            os._exit(status)

    def stop(self) -> None:
        """Ask the process to stop after the current game."""
        self._drain.set()
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and its process group."""
        if self._pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

    def has_exited(self, seconds: float) -> bool:
        """Wait at most this time for the exit; return whether the process has exited."""
        return bool(select.select([self._end_of_life], [], [], seconds)[0])

    def end(self) -> bool:
        """Kill the process if it still runs, and wait for it; return whether it exited normally."""
        if not self._pid:
            return True
        if not self.has_exited(0):
            self.kill()
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        os.close(self._end_of_life)
        return status == 0

    @contextmanager
    def stopped_by_signals(self) -> Iterator[None]:
        """Let SIGTERM and SIGINT stop the process too, before their present handlers run."""
        handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}

        def stop(number: int, frame: FrameType | None) -> None:
            self.stop()
            handler = handlers[signal.Signals(number)]
            if callable(handler):
                handler(number, frame)

        for number in handlers:
            signal.signal(number, stop)
        try:
            yield
        finally:
            for number, handler in handlers.items():
                # A handler may have installed another one for the next signal.
                if signal.getsignal(number) is stop:
                    signal.signal(number, handler)
