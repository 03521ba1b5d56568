"""The supervisor's thread: starts the services, keeps them running and stops them in order."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from arena import config
from arena.config import Folder, Running
from arena.services import worker_services
from arena.services.announcements.webhook_sender import WebhookSender
from arena.services.file_archiver import FileArchiver
from arena.services.queue import redis_server
from arena.services.queue.redis_server import Address
from arena.services.queue.sweeper import SERVICE, Sweeper
from arena.services.queue.worker_registrations import MODELS_QUEUE, QUEUE
from arena.services.rating_service import RatingService
from arena.services.relay_process import RelayOptions
from arena.services.service import (
    Service,
    ServiceLoop,
    ServicesError,
    ServiceState,
    StopStage,
    python_command,
)
from arena.services.service_logs import claimed_logs
from arena.services.web_process import Pages
from arena.store import database
from arena.store.bots import version_files
from arena.store.events import incidents
from arena.store.objects import object_storage
from arena.submissions.pending_uploads import PendingUploads
from arena.system import process_info, redis_connection
from arena.system.process_info import is_frozen
from arena.system.stop_event import StopEvent

_COUNT_SECONDS: Final = 5.0
# A web server that does not respond for this time is killed.
_PAGES_SILENT_SECONDS: Final = 20.0
_REDIS: Final = "redis"
_OWN: Final = "services"
"""Name of the log of this process."""

log = logging.getLogger("arena.services")


@contextlib.contextmanager
def _logged_by(handler: logging.Handler) -> Iterator[None]:
    """Send the arena's messages to a handler for the duration of the block."""
    logger = logging.getLogger("arena")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """State of the services at one moment: addresses, and states in start order."""

    redis: Address
    referee: str
    """gRPC address of the referee of the first worker; empty without workers."""
    services: tuple[ServiceState, ...]
    page: str = ""
    """URL of the web pages; empty without a web server."""
    relay: str = ""
    """URL for connectors of remote bots; empty without a relay."""
    logs: str = ""
    """The folder of the logs, or "standard output"."""


class Requests:
    """Signals from other threads to the supervisor.

    `stop` ends the services, `hurry` kills them during the stop.
    """

    def __init__(self) -> None:
        self.stop = StopEvent()
        self.hurry = StopEvent()


class Supervisor:
    """Runs the services of `arena.services.local`. Its thread executes only `run`."""

    def __init__(
        self,
        data_folder: Folder,
        workers: int,
        environment: Mapping[str, str],
        requests: Requests,
        pages: Pages | None = None,
        relaying: RelayOptions | None = None,
        model_workers: int = 0,
    ) -> None:
        self._data_folder = data_folder
        self._queues = [QUEUE] * workers + [MODELS_QUEUE] * model_workers
        self._environment = environment
        self._requests = requests
        self._pages = pages
        self._relaying = relaying or RelayOptions()
        self._stack = contextlib.ExitStack()
        self._sweeper: Sweeper | None = None
        self._failures: dict[str, int] = {}
        self._failures_before: Mapping[str, int] | None = None
        self._count_at = 0.0

    def run(
        self, report: Callable[[Snapshot], None], on_wait: Callable[[str], None] = lambda text: None
    ) -> None:
        """Start all services, then report snapshots until the stop signal is set.

        Stops all services before it returns or raises.

        Args:
            report: called first when all services are ready, then about every 0.05 s.
            on_wait: called with a sentence while a start takes long.

        Raises:
            ServicesError: a service does not start.
            RedisUnavailable: Redis is not available.
            StoreError: the store is not available, or a newer release has upgraded it.
        """
        with self._stack:
            self._logs = self._stack.enter_context(
                claimed_logs(self._data_folder, self._environment)
            )
            self._stack.enter_context(_logged_by(self._logs.handler(_OWN, self._environment)))
            self._loop = ServiceLoop(self._logs, self._requests.stop, self._requests.hurry)
            if self._pages is not None:
                self._stack.callback(self._pages.listening.close)
            self._sockets = self._stack.enter_context(
                worker_services.private_sockets(self._environment)
            )
            self._stack.callback(self._loop.stop_all)
            self._start_redis()
            self._start_workers()
            self._start_sweeper(on_wait)
            self._start_relay()
            self._start_pages()
            self._start_submissions()
            self._loop.await_ready(on_wait)
            self._note()
            log.info("all services are ready")

            def on_check() -> None:
                if self._sweeper is not None and self._sweeper.outdated is not None:
                    raise self._sweeper.outdated
                self._count_failures()
                report(self._snapshot())

            self._loop.run(on_check)
            log.info("stopping")

    def wake_sweeper(self) -> None:
        """Let the sweeper enqueue newly scheduled matches now; called by other threads."""
        if self._sweeper is not None:
            self._sweeper.wake()

    def _start_redis(self) -> None:
        # Each supervisor starts its own Redis. Another supervisor's Redis for this folder would end
        # with that supervisor, and a second one does not cause harm.
        address = redis_server.configured_and_reachable(self._environment)
        if address is None:
            server = redis_server.start(self._sockets, self._logs.of(_REDIS), self._environment)
            address = Address(server.url, server.source)
            service = Service(
                name=_REDIS,
                command=server.command,
                environment=server.environment,
                is_ready=server.answers,
                waits_for=f"an answer at {server.url}",
                stage=StopStage.REDIS,
            )
            self._loop.start(service, server.process)
        self._address = address
        self._connection: Redis = redis_connection.connect(address.url)
        self._stack.callback(self._connection.close)

    def _start_workers(self) -> None:
        named = self._environment.get(config.REFEREE)
        number = len(self._queues)
        if named and number > 1:
            raise ServicesError(
                f"{config.REFEREE} names one referee, and {number} workers need one each: unset"
                " it, or start with --workers 1 --model-workers 0"
            )
        owners = [f"worker-{number + 1}" for number in range(len(self._queues))]
        # Without own workers there is no referee here: those of other machines have their own.
        own_referee = worker_services.referee_at(owners[0], self._sockets) if owners else ""
        self._referee = named or own_referee
        for number, (owner, queue) in enumerate(zip(owners, self._queues, strict=True), 1):
            self._loop.start(self._worker(number, named or self._start_referee(owner), queue))

    def _start_referee(self, owner: str) -> str:
        self._loop.start(worker_services.referee(owner, self._sockets, self._environment))
        return worker_services.referee_at(owner, self._sockets)

    def _worker(self, number: int, referee: str, queue: str) -> Service:
        def forget(name: str) -> None:
            if self._sweeper is not None:
                self._sweeper.forget_worker(name)

        has_spectators = self._pages is None or self._pages.settings.spectators
        environment = {
            **self._store_environment,
            config.REFEREE: referee,
            **({} if has_spectators else {config.WATCH_MS: "0"}),
        }
        return worker_services.worker(
            number, self._connection, self._sockets, environment, queue=queue, on_exit=forget
        )

    @property
    def _store_environment(self) -> dict[str, str]:
        """The environment of services that use the store: its address, its storage, and Redis."""
        return {
            **config.without_secrets(self._environment),
            **config.object_storage_variables(self._environment),
            config.DATA: str(self._data_folder.root),
            config.DATABASE[0]: self._data_folder.database_url(self._environment),
            config.REDIS[0]: self._address.url,
        }

    def _start_pages(self) -> None:
        # After the sweeper, because that step migrates the store.
        pages = self._pages
        if pages is None:
            return
        self._loop.start(
            Service(
                name="web",
                command=lambda: python_command("arena.web", *pages.arguments()),
                environment=self._store_environment,
                is_ready=pages.answers,
                waits_for=f"an answer of {pages.address}healthz",
                responds=lambda pid: pages.answers(),
                patience=_PAGES_SILENT_SECONDS,
                descriptors=(pages.listening.fileno(),),
            )
        )

    def _start_submissions(self) -> None:
        pages, uploads = self._pages, PendingUploads(self._data_folder.submissions)
        if pages is None or not pages.settings.pushes:
            return
        self._loop.start(
            Service(
                name="submissions",
                command=lambda: python_command(
                    "arena.submissions",
                    f"--max-active-versions={pages.settings.active_versions}",
                    f"--builds={pages.settings.builds}",
                    f"--build-seconds={pages.settings.build_seconds}",
                    *["--approve-pushes"] * pages.settings.approve_pushes,
                    *["--open-ladders"] * pages.opens_ladders,
                ),
                environment=self._store_environment,
                is_ready=lambda: uploads.is_attended,
                waits_for=f"its lock on {self._data_folder.submissions}",
                responds=lambda pid: not is_frozen(pid),
                patience=worker_services.WORKER_SILENT_SECONDS,
            )
        )

    def _start_relay(self) -> None:
        # After the sweeper, because that step migrates the store.
        if self._relaying.listen is not None:
            self._loop.start(self._relaying.service(self._sockets, self._store_environment))

    def _snapshot(self) -> Snapshot:
        relay = self._relaying.address(self._sockets)
        return Snapshot(
            self._address, self._referee, self._states(), self._page, relay, self._logs.shown
        )

    @property
    def _page(self) -> str:
        return self._pages.address if self._pages is not None else ""

    def _start_sweeper(self, on_wait: Callable[[str], None]) -> None:
        engine = database.open(self._data_folder.database_url(self._environment))
        self._stack.callback(engine.dispose)
        stored = database.version(engine) or database.HEAD
        if engine.dialect.name == "sqlite" and stored < database.HEAD:
            on_wait(f"the database is being upgraded from {stored} to {database.HEAD}")
        database.prepare(engine)
        object_storage.bind(engine, object_storage.from_environment(self._environment))
        if self._data_folder.stores_builds(self._environment):
            version_files.keep_all(engine)
        self._sweeper = Sweeper(
            engine,
            self._connection,
            self._relaying.wait,
            model_workers=MODELS_QUEUE in self._queues,
        )
        self._stack.callback(self._sweeper.stop)
        self._sweeper.start()
        site = self._pages.settings.site if self._pages is not None else ""
        redis = self._address.url
        for service in (
            RatingService(engine, redis),
            FileArchiver(engine, redis),
            WebhookSender(engine, redis, site),
        ):
            self._stack.callback(service.stop)
            service.start()

    def _count_failures(self) -> None:
        """Read the failure counts of the services every 5 s, and log new failures."""
        if time.monotonic() < self._count_at:
            return
        self._count_at = time.monotonic() + _COUNT_SECONDS
        try:
            recent = incidents.read(self._connection)
        except RedisError:
            return
        if self._failures_before is None:
            # An external Redis may contain the counts of earlier services.
            self._failures_before = recent.failures
        for name, failures in recent.failures.items():
            since_start = failures - self._failures_before.get(name, 0)
            if name != SERVICE and since_start > self._failures.get(name, 0):
                log.warning("%s failed and was restarted: %s", name, recent.errors.get(name, "?"))
                self._failures[name] = since_start

    def _states(self) -> tuple[ServiceState, ...]:
        """Return the states of the services and of the sweeper's thread, without Redis.

        If a process restarts one of its own tasks after a failure, that counts as a restart.
        """
        states = [
            replace(state, restarts=state.restarts + self._failures.get(state.name, 0))
            for state in self._loop.states()
            if state.name != _REDIS
        ]
        if self._sweeper is not None:
            state = "waiting" if self._sweeper.failing else "ready"
            log_file = self._logs.of(_OWN).path
            states.append(ServiceState(SERVICE, state, None, self._sweeper.failures, log_file))
        return tuple(states)

    def _note(self) -> None:
        pid = os.getpid()
        running = Running(
            pid,
            self._address.url,
            self._referee,
            str(self._sockets),
            process_info.start_time(pid),
            self._page,
            self._relaying.address(self._sockets),
        )
        self._data_folder.note_running(running)
        self._stack.callback(self._data_folder.forget_running, pid)
