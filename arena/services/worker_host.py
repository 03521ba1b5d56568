"""A worker host: runs workers with one referee each on a machine without the other services.

The referee for a hosted bot runs on the bot's machine. Unix sockets identify the bots, and network
latency does not reduce a bot's clock. Database and Redis are on another machine.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from types import FrameType

from arena import config
from arena.config import Folder
from arena.queue.redis_server import Address
from arena.services import worker_services
from arena.system import redis_connection
from arena.system.child_process import Child

_GLANCE_SECONDS = 0.05
# A worker returns its match within 3 s (arena.matches.lease_renewal). The referee is idle by then.
_DRAIN_SECONDS = 10.0
_REFEREE_SECONDS = 3.0

log = logging.getLogger("arena.services")


def run(
    where: Folder,
    workers: int,
    redis: Address,
    environment: Mapping[str, str],
    *,
    name: str | None = None,
    burst: bool = False,
    most: int | None = None,
) -> int:
    """Run workers until SIGTERM, SIGHUP or Ctrl-C; a second Ctrl-C kills them. Return 0.

    Must run in the main thread.

    Args:
        where: the data folder.
        workers: the number of workers.
        redis: the Redis of the arena.
        environment: environment variables of the workers and referees.
        name: prefix of the workers' names; None: the host name.
        burst: a worker ends when the queue is empty.
        most: a worker ends after this number of attempts; None: unlimited. With `burst` or `most`
            the
            function returns when all workers have ended.

    Raises:
        OSError: a directory or a process cannot be created.
    """
    where.create().remove_leftovers()
    stop, hurry = threading.Event(), threading.Event()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_signals(stop, hurry))
        sockets = config.private_directory(environment)
        note = where.note_sockets(sockets)
        stack.callback(note.unlink, missing_ok=True)
        stack.callback(config.remove_private_directory, sockets)
        connection = stack.enter_context(contextlib.closing(redis_connection.connect(redis.url)))
        child_environment = {**environment, config.DATA: str(where.root), "TMPDIR": str(sockets)}
        words = [*(["--burst"] if burst else []), *(["--max-matches", str(most)] if most else [])]
        owners = [f"worker-{number + 1}" for number in range(workers)]
        own = [worker_services.referee(owner, sockets, where.logs, environment) for owner in owners]
        crew = [
            worker_services.worker(
                number + 1,
                connection,
                where.logs,
                {**child_environment, config.REFEREE: worker_services.referee_at(owner, sockets)},
                name=name,
                words=words,
                over=lambda status: bool(words) and status == 0,
            )
            for number, owner in enumerate(owners)
        ]
        stack.callback(_end, own, _REFEREE_SECONDS, hurry)
        stack.callback(_end, crew, _DRAIN_SECONDS, hurry)
        for child in (*own, *crew):
            child.start()
        log.info("workers: %d; their logs are in %s", workers, where.logs)
        while not stop.wait(_GLANCE_SECONDS) and not all(child.is_over for child in crew):
            for child in (*own, *crew):
                child.check()
        log.info("stopping: workers finish the games at hand and give their matches back")
    return 0


def _end(children: list[Child], seconds: float, hurry: threading.Event) -> None:
    for child in children:
        child.ask_to_stop()
    until = time.monotonic() + seconds
    for child in children:
        child.wait(until, hurry.is_set)


@contextlib.contextmanager
def _signals(stop: threading.Event, hurry: threading.Event) -> Iterator[None]:
    def hear(number: int, _: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            hurry.set()
        stop.set()

    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, hear) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
