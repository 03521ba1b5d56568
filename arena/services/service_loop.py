"""The loop that starts all services of a supervisor, keeps them running and stops them."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from arena.services.service import Service, ServiceProcess, ServiceState, StopStage

READY_SECONDS: Final = 60.0
"""Time in seconds within which all services must be ready."""
_CHECK_SECONDS: Final = 0.05
_LIMIT_OF_FAILED_STARTS: Final = 3
# A worker releases its match within 3 s (arena.matches.lease_renewal). Its referee is idle by then.
STOP_SECONDS: Final = {StopStage.USER: 10.0, StopStage.PROVIDER: 3.0, StopStage.REDIS: 1.0}


class ServicesError(Exception):
    """The services cannot be started. The exception's text is a sentence for people."""


class ServiceLoop:
    """Supervises services in the thread that creates it.

    Args:
        logs: the directory of the log files.
        stop: ends the loop.
        hurry: kills the services during the stop.
    """

    def __init__(self, logs: Path, stop: threading.Event, hurry: threading.Event) -> None:
        self._logs = logs
        self._stop = stop
        self._hurry = hurry
        self._processes: list[ServiceProcess] = []

    def start(self, service: Service, running: subprocess.Popen[bytes] | None = None) -> None:
        """Start a service, or supervise its process if it is running already."""
        process = ServiceProcess(service, self._logs)
        self._processes.append(process)
        if running is None:
            process.start()
        else:
            process.adopt(running)

    def await_ready(self) -> None:
        """Wait until all services are ready, or the loop is stopped.

        Raises:
            ServicesError: a service does not start.
        """
        deadline = time.monotonic() + READY_SECONDS
        while not all(process.is_ready for process in self._processes):
            if self._stop.wait(_CHECK_SECONDS):
                return
            self._check()
            for process in self._processes:
                is_late = time.monotonic() > deadline and not process.is_ready
                if is_late or process.failed_starts >= _LIMIT_OF_FAILED_STARTS:
                    raise ServicesError(
                        f"the {process.service.name} does not start. Last line of its log"
                        f" ({process.log}): {process.last_line()}"
                    )

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
