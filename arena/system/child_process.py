"""Supervise a child process: start, health checks, restarts and graceful stop.

The process gets a parent-death signal, so it does not outlive its supervisor.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.system import parent_death_signal

_FIRST_WAIT_SECONDS = 0.2
# A dependency may return at any moment, and matches must continue within 20 s of that.
_LONGEST_WAIT_SECONDS = 5.0
_STEADY_SECONDS = 2.0
"""A process that ran for this time in seconds is restarted after the shortest pause.

It was probably killed, and a longer pause would delay its match.
"""
_LOOK_SECONDS = 1.0
_LOG_BYTES = 8 << 20
_TAIL_BYTES = 2000

log = logging.getLogger("arena.services")


@dataclass(frozen=True, slots=True)
class ChildState:
    """State of a child: starting, ready, waiting (for a restart) or stopped."""

    name: str
    state: str
    pid: int | None
    restarts: int
    log: Path


class Child:
    """One child process of the supervisor.

    All methods must be called from the thread that starts it: the parent-death signal is bound to
    that thread.

    Args:
        name: the name of the child and of its log.
        module: the module for `python -m`.
        arguments: returns its arguments; called at every start.
        directory: the folder of its log.
        environment: its environment.
        ready: returns whether it is ready. Called while the process runs, until it returns True.
        answers: returns whether the process with this id responds; called every second after that.
            A process that does not respond for `patience` seconds is killed and so restarted.
        patience: see `answers`; infinite by default.
        buried: called after the process has exited unexpectedly.
        over: returns whether an exit status means that the work is complete, so that the process is
            not restarted.
        handed: descriptors that it inherits.
    """

    def __init__(
        self,
        name: str,
        module: str,
        arguments: Callable[[], Sequence[str]],
        *,
        directory: Path,
        environment: Mapping[str, str],
        ready: Callable[[], bool],
        buried: Callable[[], None] = lambda: None,
        answers: Callable[[int], bool] = lambda pid: True,
        patience: float = math.inf,
        over: Callable[[int], bool] = lambda status: False,
        handed: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.log = directory / f"{name}.log"
        self._module = module
        self._arguments = arguments
        self._environment = dict(environment)
        self._ready = ready
        self._buried = buried
        self._answers = answers
        self._patience = patience
        self._over = over
        self._is_over = False
        self._handed = tuple(handed)
        self._heard = 0.0
        self._look_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = False
        self._restarts = 0
        self.failed_starts = 0
        """Number of times it exited before it was ready.

        Exits by a signal do not count: a killed process may start the next time, while an exit
        status indicates a lasting error.
        """
        self._wait = _FIRST_WAIT_SECONDS
        self._started = 0.0
        self._restart_at: float | None = None
        self._log_begin = 0

    def start(self) -> None:
        """Start the process and append its output to its log."""
        self._roll_log()
        # -P: Python must not import modules from the current directory.
        command = [sys.executable, "-P", "-m", self._module, *self._arguments()]
        with self.log.open("ab") as output:
            self._log_begin = output.seek(0, os.SEEK_END)
            self._process = subprocess.Popen(
                parent_death_signal.leashed(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                pass_fds=self._handed,
                # Ctrl-C in the terminal must reach only the supervisor.
                start_new_session=True,
            )
        self._started = time.monotonic()
        self._restart_at = None
        self._is_ready = False

    def check(self) -> None:
        """Check the process, and restart it if it has exited.

        The pause before a restart doubles with each exit up to 5 s. It is reset when the process
        has run for more than 2 s.
        """
        if self._process is None or self._is_over:
            return
        now = time.monotonic()
        status = self._process.poll()
        if status is None:
            if self._is_ready:
                self._listen(now)
            elif self._ready():
                self._is_ready = True
                self._heard = self._look_at = now
        elif self._over(status):
            self._is_over, self._is_ready = True, False
        elif self._restart_at is None:
            if now - self._started > _STEADY_SECONDS:
                self._wait = _FIRST_WAIT_SECONDS
            if status >= 0 and not self._is_ready:
                self.failed_starts += 1
            self._is_ready = False
            self._restart_at = now + self._wait
            log.warning(
                "%s %s; it is started again in %.1f s. Its log: %s. Its last words: %s",
                self.name,
                ended(status),
                self._wait,
                self.log,
                self.last_words(),
            )
            self._wait = min(self._wait * 2, _LONGEST_WAIT_SECONDS)
            self._buried()
        elif now >= self._restart_at:
            self._restarts += 1
            self.start()

    def _listen(self, now: float) -> None:
        """Kill the process if it has not responded for `patience` seconds."""
        if now < self._look_at or self._process is None:
            return
        if self._answers(self._process.pid):
            self._heard = now
        elif now - self._heard > self._patience:
            log.warning("%s has not answered for %.0f s; it is killed", self.name, self._patience)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._look_at = time.monotonic() + _LOOK_SECONDS

    @property
    def ready(self) -> bool:
        """Return whether it was ready at the last `check`."""
        return self._is_ready

    @property
    def is_over(self) -> bool:
        """Return whether its work was complete at the last `check`."""
        return self._is_over

    def state(self) -> ChildState:
        """Return its present state."""
        running = self._process is not None and self._process.poll() is None
        if running:
            word = "ready" if self._is_ready else "starting"
        else:
            word = "stopped" if self._restart_at is None else "waiting"
        pid = self._process.pid if self._process is not None and running else None
        return ChildState(self.name, word, pid, self._restarts, self.log)

    def last_words(self) -> str:
        """Return the last line of its log since its last start."""
        with contextlib.suppress(OSError), self.log.open("rb") as output:
            end = output.seek(0, os.SEEK_END)
            output.seek(max(self._log_begin, end - _TAIL_BYTES))
            lines = output.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else "none"
        return "none"

    def ask_to_stop(self) -> None:
        """Send SIGTERM: the process finishes its urgent work and exits."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self, until: float, hurry: Callable[[], bool]) -> None:
        """Wait for its exit, then kill it if it still runs.

        Args:
            until: the deadline on the clock `time.monotonic`.
            hurry: returns whether to stop waiting at once.
        """
        if self._process is None:
            return
        while self._process.poll() is None and time.monotonic() < until and not hurry():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.05)
        if self._process.poll() is None:
            log.warning("%s did not stop in time and is killed", self.name)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None
        self._restart_at = None

    def _roll_log(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if self.log.stat().st_size > _LOG_BYTES:
                self.log.replace(self.log.with_suffix(".log.1"))


def ended(status: int) -> str:
    """Describe the exit of a process as a clause.

    Args:
        status: the exit status, or the negative number of a signal.
    """
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
