"""A worker host: runs workers with one referee each on a machine without the other services.

The referee for a hosted bot runs on the bot's machine: Unix sockets identify the bots, and network
latency does not reduce a bot's clock. Database and Redis are on another machine.
"""

from __future__ import annotations

import contextlib
import logging
import signal
from collections.abc import Iterator, Mapping
from types import FrameType

from arena import config
from arena.config import Folder
from arena.services import worker_services
from arena.services.queue.redis_server import Address
from arena.services.queue.worker_registrations import QUEUE
from arena.services.service import ServiceLoop
from arena.services.service_logs import claimed_logs
from arena.system import redis_connection
from arena.system.stop_event import StopEvent

log = logging.getLogger("arena.services")


def run(
    data_folder: Folder,
    workers: int,
    redis: Address,
    environment: Mapping[str, str],
    *,
    name: str | None = None,
    burst: bool = False,
    max_attempts: int | None = None,
    queue: str = QUEUE,
) -> int:
    """Run workers until SIGTERM, SIGHUP or Ctrl-C; a second Ctrl-C kills them. Return 0.

    Must run in the main thread.

    Args:
        name: prefix of the workers' names; None: the host name.
        burst: a worker ends when no match has been due for 3 s.
        max_attempts: a worker ends after this number of attempts; None: unlimited. With `burst`
            or `max_attempts` the function returns when all workers have ended.
        queue: the queue that the workers listen to.

    Raises:
        OSError: a directory or a process cannot be created.
    """
    data_folder.create()
    stop, hurry = StopEvent(), StopEvent()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_signals(stop, hurry))
        sockets = stack.enter_context(worker_services.private_sockets(environment))
        connection = stack.enter_context(contextlib.closing(redis_connection.connect(redis.url)))
        child_environment = {
            **environment,
            config.DATA: str(data_folder.root),
        }
        limits = [
            *(["--burst"] if burst else []),
            *(["--max-matches", str(max_attempts)] if max_attempts else []),
        ]
        logs = stack.enter_context(claimed_logs(data_folder, environment))
        loop = ServiceLoop(logs, stop, hurry)
        stack.callback(loop.stop_all)
        owners = [f"worker-{number + 1}" for number in range(workers)]
        for owner in owners:
            loop.start(worker_services.referee(owner, sockets, environment))
        for number, owner in enumerate(owners):
            referee = worker_services.referee_at(owner, sockets)
            loop.start(
                worker_services.worker(
                    number + 1,
                    connection,
                    sockets,
                    {**child_environment, config.REFEREE: referee},
                    name=name,
                    limits=limits,
                    queue=queue,
                )
            )
        log.info("workers: %d; logs: %s", workers, logs.shown)
        loop.run()
        log.info("stopping: workers finish their current games and release their matches")
    return 0


@contextlib.contextmanager
def _signals(stop: StopEvent, hurry: StopEvent) -> Iterator[None]:
    def handle(number: int, _: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            hurry.set()
        stop.set()

    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
