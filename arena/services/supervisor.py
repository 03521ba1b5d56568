"""The supervisor's thread: starts the services, keeps them running and stops them in order."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from arena import config
from arena.config import Folder, Running
from arena.events import incidents
from arena.queue import redis_server
from arena.queue.redis_server import Address, Server
from arena.queue.sweeper import SERVICE, Sweeper
from arena.services import worker_services
from arena.services.relay_process import RelayOptions
from arena.services.web_process import Pages
from arena.store import database
from arena.store.bots import version_files
from arena.submissions.pending_uploads import PendingUploads
from arena.system import process_info, redis_connection
from arena.system.child_process import Child, ChildState
from arena.system.process_info import is_frozen
from referee import logs

# The log file of the services, with the supervisor's log.


@contextlib.contextmanager
def kept_in(path: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Write the arena's log to a file for the duration of the block.

    Args:
        path: the log file.
        environment: selects the log format (referee.logs).
    """
    handler = logging.FileHandler(path)
    handler.setFormatter(logs.formatter(environment))
    logger = logging.getLogger("arena")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()


_READY_SECONDS = 60.0
_GLANCE_SECONDS = 0.05
# A worker returns its match within 3 s (arena.matches.lease_renewal). The referee is idle by then.
_DRAIN_SECONDS = 10.0
_REFEREE_SECONDS = 3.0
_FALLS_AT_START = 3
_COUNT_SECONDS = 5.0
# A web server that does not answer for this time is killed.
_PAGES_SILENT_SECONDS = 20.0

log = logging.getLogger("arena.services")


class ServicesError(Exception):
    """The services cannot be started. The exception's text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """State of the services at one moment: addresses, and child processes in start order."""

    redis: Address
    referee: str
    children: tuple[ChildState, ...]
    page: str = ""
    """URL of the web pages; empty without a web server."""
    relay: str = ""
    """URL for connectors of remote bots; empty without a relay."""


class Orders:
    """Signals from other threads to the supervisor.

    `stop` ends the services, `hurry` kills them during the stop, `sweep` starts a sweep at once.
    """

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.hurry = threading.Event()
        self.sweep = threading.Event()


class Supervisor:
    """Runs the services of `arena.services.local`. Its thread executes only `run`."""

    def __init__(
        self,
        where: Folder,
        workers: int,
        environment: Mapping[str, str],
        orders: Orders,
        pages: Pages | None = None,
        relaying: RelayOptions | None = None,
    ) -> None:
        self._where = where
        self._workers = workers
        self._environment = environment
        self._orders = orders
        self._pages = pages
        self._relaying = relaying or RelayOptions()
        self._stack = contextlib.ExitStack()
        self._children: list[Child] = []
        self._server: Server | None = None
        self._sweeper: Sweeper | None = None
        self._failures: dict[str, int] = {}
        self._failures_before: Mapping[str, int] | None = None
        self._count_at = 0.0

    def run(self, report: Callable[[Snapshot], None]) -> None:
        """Start all services, then report snapshots until the stop signal is set.

        Stops all services before it returns or raises.

        Args:
            report: called first when all services are ready, then about every 0.05 s.

        Raises:
            ServicesError: a service does not start.
            RedisError: Redis is not available.
            StoreError: the store is not available.
        """
        with self._stack, kept_in(self._where.logs / "services.log", self._environment):
            if self._pages is not None:
                self._stack.callback(self._pages.listening.close)
            self._where.remove_leftovers()
            self._sockets = config.private_directory(self._environment)
            note = self._where.note_sockets(self._sockets)
            self._stack.callback(note.unlink, missing_ok=True)
            self._stack.callback(config.remove_private_directory, self._sockets)
            self._start_redis()
            self._stack.callback(self._stop_children)
            self._start_children()
            self._start_sweeper()
            self._start_relay()
            self._start_pages()
            self._start_submissions()
            self._await_children()
            self._note()
            log.info("all services are at work")
            while not self._orders.stop.wait(_GLANCE_SECONDS):
                self._check()
                self._count_failures()
                report(self._snapshot())
            log.info("stopping")

    # --- starting ----------------------------------------------------------------------

    def _start_redis(self) -> None:
        # Each supervisor starts its own Redis. Another supervisor's Redis for this folder would end
        # with that supervisor, and a second one does not cause harm.
        found = redis_server.named(self._environment)
        if found is None:
            log_file = self._where.logs / "redis.log"
            self._server = redis_server.start(self._sockets, log_file, self._environment)
            self._stack.callback(self._server.stop)
            found = Address(self._server.url, self._server.source)
        self._address = found
        self._connection: Redis = redis_connection.connect(found.url)
        self._stack.callback(self._connection.close)

    def _start_children(self) -> None:
        named = self._environment.get(config.REFEREE)
        if named and self._workers > 1:
            raise ServicesError(
                f"{config.REFEREE} names one referee, and {self._workers} workers need one each:"
                f" unset it, or start with --workers 1"
            )
        owners = [f"worker-{number + 1}" for number in range(self._workers)]
        self._referee = named or worker_services.referee_at(
            (owners or ["worker-1"])[0], self._sockets
        )
        for number, owner in enumerate(owners):
            address = named or self._start_referee(owner)
            child = self._worker_child(number + 1, address)
            self._children.append(child)
            child.start()

    def _start_referee(self, owner: str) -> str:
        child = worker_services.referee(owner, self._sockets, self._where.logs, self._environment)
        self._children.append(child)
        child.start()
        return worker_services.referee_at(owner, self._sockets)

    def _worker_child(self, number: int, referee: str) -> Child:
        def bury(name: str) -> None:
            if self._sweeper is not None:
                self._sweeper.bury(name)

        watched = self._pages is None or self._pages.manners.spectators
        environment = {
            **self._named,
            config.REFEREE: referee,
            **({} if watched else {config.WATCH_MS: "0"}),
            # Remains of killed worker processes and sandbox launchers are removed with this
            # directory.
            "TMPDIR": str(self._sockets),
        }
        return worker_services.worker(
            number, self._connection, self._where.logs, environment, buried=bury
        )

    @property
    def _named(self) -> dict[str, str]:
        """The environment without secrets, with the data folder and the URLs of store and Redis."""
        return {
            **config.without_secrets(self._environment),
            config.DATA: str(self._where.root),
            config.DATABASE[0]: self._where.database_url(self._environment),
            config.REDIS[0]: self._address.url,
        }

    def _start_pages(self) -> None:
        # After the sweeper, because that step migrates the store.
        pages = self._pages
        if pages is None:
            return
        child = Child(
            "web",
            "arena.web",
            pages.arguments,
            directory=self._where.logs,
            environment=self._named,
            ready=pages.answers,
            answers=lambda pid: pages.answers(),
            patience=_PAGES_SILENT_SECONDS,
            handed=(pages.listening.fileno(),),
        )
        self._children.append(child)
        child.start()

    def _start_submissions(self) -> None:
        pages, shelf = self._pages, PendingUploads(self._where.submissions)
        if pages is None or not pages.manners.pushes:
            return
        referee = self._start_referee("submissions")
        child = Child(
            "submissions",
            "arena.submissions",
            lambda: [],
            directory=self._where.logs,
            environment={**self._named, config.REFEREE: referee},
            ready=lambda: shelf.is_attended,
            answers=lambda pid: not is_frozen(pid),
            patience=worker_services.WORKER_SILENT_SECONDS,
        )
        self._children.append(child)
        child.start()

    def _start_relay(self) -> None:
        # After the sweeper, because that step migrates the store.
        if self._relaying.listen is not None:
            child = self._relaying.child(self._sockets, self._where.logs, self._named)
            self._children.append(child)
            child.start()

    def _snapshot(self) -> Snapshot:
        relay = self._relaying.address(self._sockets)
        return Snapshot(self._address, self._referee, self._states(), self._page, relay)

    @property
    def _page(self) -> str:
        return self._pages.address if self._pages is not None else ""

    def _start_sweeper(self) -> None:
        engine = database.open(self._where.database_url(self._environment))
        self._stack.callback(engine.dispose)
        database.prepare(engine)
        if self._where.shares_store(self._environment):
            version_files.keep_all(engine)
        self._sweeper = Sweeper(engine, self._connection, self._orders.sweep, self._relaying.wait)
        self._stack.callback(self._sweeper.stop)
        self._sweeper.start()

    def _await_children(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not all(child.ready for child in self._children):
            if self._orders.stop.wait(_GLANCE_SECONDS):
                return
            self._check()
            for child in self._children:
                late = time.monotonic() > deadline and not child.ready
                if late or child.failed_starts >= _FALLS_AT_START:
                    raise ServicesError(
                        f"the {child.name} does not start; the last words in its log"
                        f" ({child.log}) are: {child.last_words()}"
                    )

    # --- running -----------------------------------------------------------------------

    def _check(self) -> None:
        if self._server is not None and not self._server.alive():
            log.warning("Redis died; it is started again (its log: %s)", self._server.log)
            try:
                self._server.start()
            except redis_server.RedisError as error:
                log.warning("%s", error)
        for child in self._children:
            child.check()

    def _count_failures(self) -> None:
        """Read the failure counts of the services every 5 s, and log new failures."""
        if time.monotonic() < self._count_at:
            return
        self._count_at = time.monotonic() + _COUNT_SECONDS
        try:
            counted = incidents.read(self._connection)
        except RedisError:
            return
        if self._failures_before is None:
            # An external Redis may contain the counts of earlier services.
            self._failures_before = counted.failures
        for name, number in counted.failures.items():
            since = number - self._failures_before.get(name, 0)
            if name != SERVICE and since > self._failures.get(name, 0):
                log.warning("%s failed and was restarted: %s", name, counted.errors.get(name, "?"))
                self._failures[name] = since

    def _states(self) -> tuple[ChildState, ...]:
        """Return the states of the child processes and of the sweeper's thread.

        If a process restarts one of its own tasks after a failure, that counts as a restart.
        """
        states = [
            replace(state, restarts=state.restarts + self._failures.get(state.name, 0))
            for state in (child.state() for child in self._children)
        ]
        if self._sweeper is not None:
            word = "waiting" if self._sweeper.failing else "ready"
            log_file = self._where.logs / "services.log"
            states.append(ChildState(SERVICE, word, None, self._sweeper.failures, log_file))
        return tuple(states)

    # --- stopping ----------------------------------------------------------------------

    def _stop_children(self) -> None:
        # Other services need the referees and the relay to return their matches; stop these last.
        needed = ("referee-", "relay")
        others = [child for child in self._children if not child.name.startswith(needed)]
        last = [child for child in self._children if child.name.startswith(needed)]
        for group, seconds in ((others, _DRAIN_SECONDS), (last, _REFEREE_SECONDS)):
            for child in group:
                child.ask_to_stop()
            until = time.monotonic() + seconds
            for child in group:
                child.wait(until, self._orders.hurry.is_set)

    def _note(self) -> None:
        pid = os.getpid()
        running = Running(
            pid,
            self._address.url,
            self._referee,
            str(self._sockets),
            process_info.began(pid),
            self._page,
            self._relaying.address(self._sockets),
        )
        self._where.note_running(running)
        self._stack.callback(self._where.forget_running, pid)
