"""The services of an arena on this machine, for the duration of a `with` block.

    Redis        unless the environment names one (arena.services.queue.redis_server)
    referees     one process per worker, unless POKEARENA_REFEREE names one
    workers      by default one process per core
    sweeper      two threads in this process
    webhooks     a thread in this process, and one for each webhook during a delivery
    relay        optional process that accepts remote bots
    web server   optional process that serves the pages
    submissions  process that handles uploads, each in a child process; only with the web server
                 and if uploads are enabled

One loop (arena.services.supervisor) restarts a process that exits, after a pause that grows while
it keeps failing. All processes end when this process ends for any reason. The parent-death signal
is bound to the thread that started a process; one thread therefore starts all processes and lives
until the last one has ended. Processes are started by exec, never by a fork of this process.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, Self

from arena.config import Folder
from arena.services.relay_process import RelayOptions
from arena.services.service import ServicesError, ServiceState
from arena.services.supervisor import Requests, Snapshot, Supervisor
from arena.services.web_process import Pages
from arena.system.process_info import cores, require_linux

__all__ = ["ServiceState", "Services", "ServicesError", "Snapshot"]

log = logging.getLogger("arena.services")


class Services:
    """All services of a data folder, as a context manager.

    On exit, workers finish and commit their current games and return their matches to the queue. A
    KeyboardInterrupt during the exit kills them instead; committed games are not lost. In the main
    thread, SIGTERM and SIGHUP end the block with SystemExit.

    Args:
        data_folder: the data folder; created if missing.
        workers: the number of workers; by default one per core available to this process.
        pages: the web server; None: no web pages.
        relaying: the relay; None: remote bots cannot connect.
        on_wait: called in another thread with a sentence while the start takes long.
        model_workers: the number of additional workers for matches of the clock class `model`.

    Raises:
        ServicesError: on entering; a service does not start. The text is a sentence.
        RedisUnavailable: on entering; Redis is not available. The text is a sentence.
        StoreError: on entering; the store is not available. The text is a sentence.
        InfrastructureError: on entering; this system is not Linux.
    """

    def __init__(
        self,
        data_folder: Folder,
        workers: int | None = None,
        environment: Mapping[str, str] = os.environ,
        pages: Pages | None = None,
        relaying: RelayOptions | None = None,
        on_wait: Callable[[str], None] = lambda sentence: None,
        model_workers: int = 0,
    ) -> None:
        self._data_folder = data_folder
        self._requests = Requests()
        self._supervisor = Supervisor(
            data_folder,
            cores() if workers is None else workers,
            environment,
            self._requests,
            pages,
            relaying,
            model_workers,
        )
        self._on_wait = on_wait
        self._changed = threading.Condition()
        self._snapshot: Snapshot | None = None
        self._error: BaseException | None = None
        self._handlers: dict[int, Any] = {}
        self._thread = threading.Thread(target=self._run, name="services", daemon=True)

    @property
    def snapshot(self) -> Snapshot:
        """Current state of the services.

        Raises the supervisor's exception if the supervisor has failed.
        """
        if self._error is not None:
            raise self._error
        assert self._snapshot is not None, "asked before the services were started"
        return self._snapshot

    def nudge(self) -> None:
        """Enqueue newly scheduled matches now instead of within a second."""
        self._supervisor.wake_sweeper()

    def __enter__(self) -> Self:
        require_linux("The services of an arena run")
        self._data_folder.create()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                # nohup ignores SIGHUP on purpose.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._handlers[number] = signal.signal(number, _leave) or signal.SIG_DFL
        self._thread.start()
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._snapshot or self._error)
            if self._error is not None:
                raise self._error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.stop.set()
        try:
            self._thread.join()
        except BaseException:
            self._requests.hurry.set()
            self._thread.join()
            raise
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)

    def _run(self) -> None:
        try:
            self._supervisor.run(self._report, self._note_wait)
        except BaseException as error:
            if self._snapshot is not None:
                log.exception("the supervisor of the services failed")
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _note_wait(self, sentence: str) -> None:
        log.info("%s", sentence)
        self._on_wait(sentence)

    def _report(self, snapshot: Snapshot) -> None:
        with self._changed:
            self._snapshot = snapshot
            self._changed.notify_all()


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
