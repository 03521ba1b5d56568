"""A child process that is kept running: started on a leash, restarted when it dies, drained."""

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
# What it waits for may be back at any moment, and matches are to go on within 20 s of that.
_LONGEST_WAIT_SECONDS = 5.0
_STEADY_SECONDS = 2.0
"""A process that lived so long is restarted after the first pause: most likely it was killed, and
a longer pause would delay its match."""
_LOOK_SECONDS = 1.0
_LOG_BYTES = 8 << 20
_TAIL_BYTES = 2000

log = logging.getLogger("arena.services")


@dataclass(frozen=True, slots=True)
class ChildState:
    """How a child is doing. `state` is starting, ready, waiting (to be restarted) or stopped."""

    name: str
    state: str
    pid: int | None
    restarts: int
    log: Path


class Child:
    """One child process of the supervisor.

    name: also the name of its log.
    module: what `python -m` runs.
    arguments: its arguments, asked for anew at every start.
    ready: whether it is at work now. It is asked while the process runs, until it says so once.
    answers: whether it still is, asked every second from then on with the process id; a process
        that does not answer for `patience` seconds is killed, and so started again.
    buried: called with the process id after the process has died unasked.
    over: whether a process that ended with a status has done all it had to, and is not started
        again.
    handed: descriptors that it inherits.

    All methods are for the one thread that starts it: the leash ties it to that thread.
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
        """How often it ended by itself before it was ready. A process that was killed may start
        the next time; one that exits has a reason to."""
        self._wait = _FIRST_WAIT_SECONDS
        self._started = 0.0
        self._restart_at: float | None = None
        self._log_begin = 0

    def start(self) -> None:
        """Starts the process. Its output goes to the end of its log."""
        self._roll_log()
        # -P: what lies in the directory we were started in is not to be imported.
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
                # Ctrl-C in the terminal is for the supervisor alone.
                start_new_session=True,
            )
        self._started = time.monotonic()
        self._restart_at = None
        self._is_ready = False

    def check(self) -> None:
        """Restarts the process if it has died, after a pause that grows while it keeps dying."""
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
        """Kills the process if it has not answered for too long."""
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
        """Whether it is at work, as far as the last `check` saw."""
        return self._is_ready

    @property
    def is_over(self) -> bool:
        """Whether it has done all it had to, as far as the last `check` saw."""
        return self._is_over

    def state(self) -> ChildState:
        """How it is doing."""
        running = self._process is not None and self._process.poll() is None
        if running:
            word = "ready" if self._is_ready else "starting"
        else:
            word = "stopped" if self._restart_at is None else "waiting"
        pid = self._process.pid if self._process is not None and running else None
        return ChildState(self.name, word, pid, self._restarts, self.log)

    def last_words(self) -> str:
        """The last line of its log since its last start."""
        with contextlib.suppress(OSError), self.log.open("rb") as said:
            end = said.seek(0, os.SEEK_END)
            said.seek(max(self._log_begin, end - _TAIL_BYTES))
            lines = said.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else "none"
        return "none"

    def ask_to_stop(self) -> None:
        """Sends SIGTERM: it ends by itself when it has finished what cannot wait."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self, until: float, hurry: Callable[[], bool]) -> None:
        """Waits for its end until a time of `time.monotonic`, or `hurry`; then kills it."""
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
    """How a process ended, as a clause."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
