"""The services of an arena on this machine, for as long as a `with` block lasts.

    Redis        unless one is named in the environment (arena.queue.redis_server)
    referee      a process of its own, unless POKEARENA_REFEREE names one
    workers      one per core unless told otherwise, each a process of its own
    sweeper      a thread here
    relay        lets remote bots in, a process of its own, if it is asked for
    pages        a web server, a process of its own, if they are asked for

A child that dies is started again, after a pause that grows while it keeps dying. All of them
die with this process, whatever way it dies; that is why one thread, which lives until the last
of them has ended, starts them all. They are started by exec, never by a fork of this process.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Mapping
from types import FrameType
from typing import Any, Self

from arena.config import Folder
from arena.services.relay_process import RelayOptions
from arena.services.supervisor import Orders, ServicesError, Snapshot, Supervisor
from arena.services.web_process import Pages
from arena.system.child_process import ChildState
from arena.system.process_info import cores

__all__ = ["ChildState", "Services", "ServicesError", "Snapshot"]

log = logging.getLogger("arena.services")


class Services:
    """All services of a data folder.

    where: the data folder; it is created if need be.
    workers: how many; by default one per core this process may use.
    pages: the web server; without it no pages are served.
    relaying: the relay; without it no remote bots can connect.

    Entering returns when all of them are at work, and raises ServicesError, RedisError or
    StoreError (sentences for a person) if that fails. Leaving drains them: workers finish and
    commit their current games, and give their matches back. A KeyboardInterrupt meanwhile
    kills them instead, which loses no committed game either. In the main thread, SIGTERM and
    SIGHUP end the block by SystemExit.
    """

    def __init__(
        self,
        where: Folder,
        workers: int | None = None,
        environment: Mapping[str, str] = os.environ,
        pages: Pages | None = None,
        relaying: RelayOptions | None = None,
    ) -> None:
        self._where = where
        self._orders = Orders()
        self._supervisor = Supervisor(
            where,
            cores() if workers is None else workers,
            environment,
            self._orders,
            pages,
            relaying,
        )
        self._changed = threading.Condition()
        self._snapshot: Snapshot | None = None
        self._error: BaseException | None = None
        self._handlers: dict[int, Any] = {}
        self._thread = threading.Thread(target=self._run, name="services", daemon=True)

    @property
    def snapshot(self) -> Snapshot:
        """How everything is at the moment. Raises what ended the supervisor, if it has ended."""
        if self._error is not None:
            raise self._error
        assert self._snapshot is not None, "asked before the services were entered"
        return self._snapshot

    def nudge(self) -> None:
        """Matches have been scheduled: their hints go out now instead of within a second."""
        self._orders.sweep.set()

    def __enter__(self) -> Self:
        self._where.create()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                # nohup has it ignored on purpose.
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
        self._orders.stop.set()
        try:
            self._thread.join()
        except BaseException:
            self._orders.hurry.set()
            self._thread.join()
            raise
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)

    def _run(self) -> None:
        try:
            self._supervisor.run(self._report)
        except BaseException as error:
            if self._snapshot is not None:
                log.exception("the supervisor of the services failed")
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _report(self, snapshot: Snapshot) -> None:
        with self._changed:
            self._snapshot = snapshot
            self._changed.notify_all()


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
