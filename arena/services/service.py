"""Services: processes that a loop starts, checks, restarts and stops in order.

Each process gets a parent-death signal, so it does not outlive its supervisor.
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
from enum import IntEnum
from pathlib import Path
from typing import Final

from arena.services.service_logs import ServiceLogs
from arena.system import parent_death_signal, private_files, process_info
from arena.system.backoff import Backoff
from arena.system.process_log import ProcessLog
from arena.system.stop_event import StopEvent

_FIRST_PAUSE_SECONDS: Final = 0.2
# A dependency may return at any moment, and matches must continue within 20 s of that.
_LONGEST_PAUSE_SECONDS: Final = 5.0
_STEADY_SECONDS: Final = 2.0
"""A process that ran for this time, in seconds, is restarted after the shortest pause.

It was probably killed, and a longer pause would delay its match.
"""
_HEALTH_SECONDS: Final = 1.0
_LOG_SECONDS: Final = 5.0

START_SECONDS: Final = 60.0
"""Default time in seconds that a process may spend idle before it is ready."""
_BUSY_SECONDS: Final = 1.0
_BUSY_BYTES: Final = 1 << 20
"""A starting process counts as working if it used this processor time, or read these bytes from the
disk."""
_NOTE_SECONDS: Final = 10.0
_CHECK_SECONDS: Final = 0.05
_LIMIT_OF_FAILED_STARTS: Final = 3

log = logging.getLogger("arena.services")


class StopStage(IntEnum):
    """Order in which services are stopped: the users of a service before the service."""

    USER = 0
    PROVIDER = 1
    """Workers need referees and the relay to release their matches."""
    REDIS = 2


# A worker releases its match within 3 s (arena.matches.lease_renewal). Its referee is idle by then.
STOP_SECONDS: Final = {StopStage.USER: 10.0, StopStage.PROVIDER: 3.0, StopStage.REDIS: 1.0}
"""Time in seconds for the services of each stage to end before they are killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A process that must keep running.

    Attributes:
        name: the name of the service and of its log file.
        command: returns the command line, whose first word is a path; called at every start.
        is_ready: whether it is ready; called while it starts, until it returns True.
        waits_for: what makes it ready, as a noun phrase.
        start_seconds: how long its start may be idle.
        responds: whether the process with this id responds; called every second after that. A
            process that does not respond for `patience` seconds is killed and so restarted.
        patience: see `responds`; infinite by default.
        on_exit: called after the process has exited unexpectedly.
        is_complete: whether an exit status means that the work is complete, so that the process is
            not restarted. None: the work never ends.
        descriptors: descriptors that the process inherits.
    """

    name: str
    command: Callable[[], Sequence[str]]
    environment: Mapping[str, str]
    is_ready: Callable[[], bool]
    waits_for: str
    start_seconds: float = START_SECONDS
    responds: Callable[[int], bool] = lambda pid: True
    patience: float = math.inf
    on_exit: Callable[[], None] = lambda: None
    is_complete: Callable[[int], bool] | None = None
    descriptors: Sequence[int] = ()
    stage: StopStage = StopStage.USER


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command line of `python -m MODULE` with these arguments."""
    # -P: Python must not import modules from the current directory.
    return [sys.executable, "-P", "-m", module, *arguments]


@dataclass(frozen=True, slots=True)
class ServiceState:
    """State of a service: starting, ready, waiting (for a restart) or stopped."""

    name: str
    state: str
    pid: int | None
    restarts: int
    log: Path


class StartProgress:
    """Measures how long a start has been idle.

    A process that loads programs from a slow disk, or shares its core with many others, still
    works. One that only waits, or is started again and again, does not get any further.
    """

    def __init__(self) -> None:
        self._began: float | None = None
        self._starts = 0
        self._work = process_info.Work(0.0, 0)

    def begin(self) -> None:
        """Note that a process is started."""
        self._starts += 1
        if self._began is None:
            self._began = time.monotonic()

    def note(self, pid: int, now: float) -> None:
        """Note the work that the process has done since; only that of the first one counts."""
        if self._starts > 1:
            return
        work = process_info.work(pid)
        is_busy = work.seconds - self._work.seconds >= _BUSY_SECONDS
        if is_busy or work.read_bytes - self._work.read_bytes >= _BUSY_BYTES:
            self._began, self._work = now, work

    def end(self) -> None:
        """Note that the process is ready."""
        self._began, self._starts = None, 0
        self._work = process_info.Work(0.0, 0)

    def idle_seconds(self, now: float) -> float:
        """Return the time since the start, or since the process last did some work."""
        return 0.0 if self._began is None else now - self._began


class ServiceProcess:
    """The process of a service.

    All methods must be called from the thread that starts it: the parent-death signal is bound to
    that thread.
    """

    def __init__(self, service: Service, log: ProcessLog) -> None:
        self.service = service
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._is_complete = False
        self._is_ready = False
        self._responded = 0.0
        self._health_check_at = 0.0
        self._restarts = 0
        self.failed_starts = 0
        """Number of times it exited before it was ready.

        Exits by a signal do not count: a killed process may start the next time, while an exit
        status indicates a lasting error.
        """
        self._backoff = Backoff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS, _STEADY_SECONDS)
        self._started = 0.0
        self._restart_at: float | None = None
        self._progress = StartProgress()
        self._log_check_at = 0.0

    def adopt(self, process: subprocess.Popen[bytes]) -> None:
        """Supervise a process that runs already."""
        self._process = process
        self._started = time.monotonic()
        self._progress.begin()

    def start(self) -> None:
        """Start the process and append its output to its log."""
        command = self.service.command()
        with self.log.open() as output:
            self._process = subprocess.Popen(
                parent_death_signal.killed_with_parent(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(self.service.environment),
                pass_fds=tuple(self.service.descriptors),
                # Ctrl-C in the terminal must reach only the supervisor.
                start_new_session=True,
                umask=private_files.UMASK,
            )
        self._started = time.monotonic()
        self._restart_at = None
        self._is_ready = False
        self._progress.begin()

    def check(self) -> None:
        """Check the process, and restart it if it has exited.

        The pause before a restart doubles with each exit up to 5 s. It is reset when the process
        has run for at least 2 s.
        """
        if self._process is None or self._is_complete:
            return
        now = time.monotonic()
        status = self._process.poll()
        if status is None:
            if self._is_ready:
                self._check_health(now)
            elif _probe(self.service.is_ready, if_unknown=False):
                self._is_ready = True
                self._responded = self._health_check_at = now
                self._progress.end()
            else:
                self._progress.note(self._process.pid, now)
            self._limit_log(now)
        elif self.service.is_complete is not None and self.service.is_complete(status):
            self._is_complete, self._is_ready = True, False
        elif self._restart_at is None:
            self._plan_restart(now, status)
        elif now >= self._restart_at:
            self._restart(now)

    def _restart(self, now: float) -> None:
        """Restart the process; a full or unwritable machine delays it and ends nothing."""
        try:
            self.start()
        except OSError as error:
            pause = self._backoff.after()
            self._restart_at = now + pause
            log.warning(
                "%s cannot be restarted: %s; next try in %.1f s", self.service.name, error, pause
            )
        else:
            self._restarts += 1

    def _plan_restart(self, now: float, status: int) -> None:
        if status >= 0 and not self._is_ready:
            self.failed_starts += 1
        self._is_ready = False
        pause = self._backoff.after(now - self._started)
        self._restart_at = now + pause
        log.warning(
            "%s %s; restart in %.1f s. Log file: %s. Last line: %s",
            self.service.name,
            describe_exit(status),
            pause,
            self.log.path,
            self.log.last_line(),
        )
        self.service.on_exit()

    def _check_health(self, now: float) -> None:
        """Kill the process if it has not responded for `patience` seconds."""
        if now < self._health_check_at or self._process is None:
            return
        service, pid = self.service, self._process.pid
        if _probe(lambda: service.responds(pid), if_unknown=True):
            self._responded = now
        elif now - self._responded > service.patience:
            log.warning("%s has not responded for %.0f s; kill", service.name, service.patience)
            self._kill()
        self._health_check_at = time.monotonic() + _HEALTH_SECONDS

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def is_ready(self) -> bool:
        """Whether it was ready at the last check."""
        return self._is_ready

    @property
    def is_complete(self) -> bool:
        """Whether its work was complete at the last check."""
        return self._is_complete

    def state(self) -> ServiceState:
        running = self._process is not None and self._process.poll() is None
        if running:
            state = "ready" if self._is_ready else "starting"
        else:
            state = "stopped" if self._restart_at is None else "waiting"
        pid = self._process.pid if self._process is not None and running else None
        return ServiceState(self.service.name, state, pid, self._restarts, self.log.path)

    def problem(self, now: float) -> str:
        """Return why it does not start, as a clause; empty while it may still start."""
        waits, limit = f"it waits for {self.service.waits_for}", self.service.start_seconds
        if self.failed_starts >= _LIMIT_OF_FAILED_STARTS:
            return f"{waits} and ended {self.failed_starts} times before that"
        if not self._is_ready and self._progress.idle_seconds(now) > limit:
            return f"{waits} and has done no work for {limit:.0f} s"
        return ""

    def terminate(self) -> None:
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
            log.warning("%s did not stop in time; kill", self.service.name)
            self._kill()
            self._process.wait()
        self._process = None
        self._restart_at = None

    def _limit_log(self, now: float) -> None:
        if now >= self._log_check_at:
            self._log_check_at = now + _LOG_SECONDS
            self.log.limit_size()


def _probe(probe: Callable[[], bool], *, if_unknown: bool) -> bool:
    """Return the result of a probe, or `if_unknown` if this machine cannot try it.

    Without free descriptors nothing is known of a process, so it is neither ready nor killed.
    """
    try:
        return probe()
    except OSError:
        return if_unknown


def describe_exit(status: int) -> str:
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


class ServicesError(Exception):
    """The services cannot be started. The exception's text is a sentence for people."""


def _start_failure(process: ServiceProcess, problem: str) -> str:
    return (
        f"the service {process.service.name} does not start: {problem}."
        f" Last line of its log ({process.log.path}): {process.log.last_line()}"
    )


class ServiceLoop:
    """Supervises services in the thread that creates it.

    Args:
        stop: ends the loop.
        hurry: kills the services during the stop.
    """

    def __init__(self, logs: ServiceLogs, stop: StopEvent, hurry: StopEvent) -> None:
        self._logs = logs
        self._stop = stop
        self._hurry = hurry
        self._processes: list[ServiceProcess] = []

    def start(self, service: Service, running: subprocess.Popen[bytes] | None = None) -> None:
        """Start a service, or supervise its process if it is running already."""
        process = ServiceProcess(service, self._logs.of(service.name))
        self._processes.append(process)
        if running is None:
            process.start()
        else:
            process.adopt(running)

    def await_ready(self, on_wait: Callable[[str], None] = lambda sentence: None) -> None:
        """Wait until all services are ready, or the loop is stopped.

        Args:
            on_wait: called every 10 s with a sentence for each service that is not ready.

        Raises:
            ServicesError: a service does not start: it ended three times, or was idle for its
                `start_seconds`.
        """
        note_at = time.monotonic() + _NOTE_SECONDS
        while late := [process for process in self._processes if not process.is_ready]:
            if self._stop.wait(_CHECK_SECONDS):
                return
            self._check()
            now = time.monotonic()
            for process in late:
                if problem := process.problem(now):
                    raise ServicesError(_start_failure(process, problem))
            if now >= note_at:
                note_at = now + _NOTE_SECONDS
                for process in late:
                    service = process.service
                    on_wait(f"{service.name} is starting; it waits for {service.waits_for}")

    def run(self, on_check: Callable[[], None] = lambda: None) -> None:
        """Check all services until the loop is stopped, or those that can complete are complete.

        Args:
            on_check: called after each check, about every 0.05 s.
        """
        while not self._stop.wait(_CHECK_SECONDS) and not self._is_complete:
            self._check()
            on_check()

    def stop_all(self) -> None:
        """Stop all services, stage by stage."""
        for stage in StopStage:
            processes = [process for process in self._processes if process.service.stage == stage]
            for process in processes:
                process.terminate()
            until = time.monotonic() + STOP_SECONDS[stage]
            for process in processes:
                process.wait(until, self._hurry.is_set)

    def states(self) -> tuple[ServiceState, ...]:
        """Return the states of the services, in the order of their start."""
        return tuple(process.state() for process in self._processes)

    def _check(self) -> None:
        for process in self._processes:
            process.check()

    @property
    def _is_complete(self) -> bool:
        finite = [process for process in self._processes if process.service.is_complete]
        return bool(finite) and all(process.is_complete for process in finite)
