"""The worker's process: plays matches from the queue, or hosts workers with a referee each."""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import TYPE_CHECKING

from arena import config
from arena.config import Folder
from arena.queue import redis_server
from arena.queue.match_queue import WorkerInfo, fresh_name
from arena.queue.redis_server import Address
from arena.queue.worker import MatchWorker
from arena.services import idle_analysis, worker_services
from arena.services.supervisor import ServiceLoop
from arena.system import redis_connection
from arena.system.process_info import require_linux
from arena.system.redis_connection import connect
from arena.system.stop_event import StopEvent
from referee import logs

if TYPE_CHECKING:
    from arena.matches.attempt import WorkerResources


# A worker host: runs workers with one referee each on a machine without the other services.
#
# The referee for a hosted bot runs on the bot's machine. Unix sockets identify the bots, and
# network latency does not reduce a bot's clock. Database and Redis are on another machine.

host_log = logging.getLogger("arena.services")


def run_host(
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
            the function returns when all workers have ended.

    Raises:
        OSError: a directory or a process cannot be created.
    """
    where.create().remove_leftovers()
    stop, hurry = StopEvent(), StopEvent()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_signals(stop, hurry))
        sockets = config.private_directory(environment)
        note = where.note_sockets(sockets)
        stack.callback(note.unlink, missing_ok=True)
        stack.callback(config.remove_private_directory, sockets)
        connection = stack.enter_context(contextlib.closing(redis_connection.connect(redis.url)))
        child_environment = {**environment, config.DATA: str(where.root), "TMPDIR": str(sockets)}
        limits = [*(["--burst"] if burst else []), *(["--max-matches", str(most)] if most else [])]
        loop = ServiceLoop(where.logs, stop, hurry)
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
                    {**child_environment, config.REFEREE: referee},
                    name=name,
                    limits=limits,
                )
            )
        host_log.info("workers: %d; log files: %s", workers, where.logs)
        loop.run()
        host_log.info("stopping: workers finish their current games and release their matches")
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


_UNREACHABLE = 3
_WATCH_MS = 250
_CLAIM_SECONDS = 10.0
_CLAIM_POLL_SECONDS = 0.1

log = logging.getLogger("arena.worker")


class NoServices(Exception):
    """The services of an arena cannot be found. The exception's text is a sentence for people."""


def run(
    where: Folder,
    name: str | None = None,
    environment: Mapping[str, str] = os.environ,
    *,
    workers: int = 1,
    burst: bool = False,
    most: int | None = None,
) -> int:
    """Run workers until they are stopped, and return the exit status.

    If POKEARENA_REFEREE names a referee, this process is the only worker. Otherwise it supervises
    the workers, with one referee each.

    Args:
        where: the data folder.
        name: the worker's name, or the prefix of several; None: from the host name.
        environment: environment variables with the settings.
        workers: the number of workers.
        burst: a worker ends when the queue is empty.
        most: a worker ends after this number of attempts; None: unlimited.

    Raises:
        NoServices: Redis or the database is not named, or another worker uses the referee.
        RedisError: Redis is not available.
        InfrastructureError: the worker cannot start.
        StoreError: the store cannot be used.
        SettingError: a setting is invalid.
    """
    require_linux("Workers run")
    # Imported before the first fork, so that matches do not spend time on it.
    from arena.bots.sandbox.available_levels import best
    from arena.matches.attempt import WorkerResources, attempt
    from arena.store import database
    from referee.games.registry import GAMES

    GAMES.load_all()
    try:
        watch_ms = max(0, int(environment.get(config.WATCH_MS) or _WATCH_MS))
    except ValueError:
        raise config.SettingError(
            f"{config.WATCH_MS} must be a number of milliseconds. 0 publishes no positions.",
            code="not-a-time",
        ) from None
    most_bytes = config.most_versions(environment)
    address = redis_server.find(where, environment)
    if address is None:
        raise NoServices(
            f"no services run for {where.root}: start `pokearena serve` there, or set"
            " POKEARENA_REDIS_URL and POKEARENA_DATABASE_URL to the Redis and the database of"
            " services on another machine."
        )
    url = where.database_url(environment)
    referee = environment.get(config.REFEREE)
    if referee is None and where.running() is None and not where.shares_store(environment):
        raise NoServices(
            f"no services run for {where.root}: set POKEARENA_DATABASE_URL to the database of"
            " services on another machine, or POKEARENA_REFEREE to a referee on this machine."
        )
    if referee is not None and workers > 1:
        raise config.SettingError(
            f"{config.REFEREE} names one referee, and {workers} workers need one each: unset it,"
            " or start one worker.",
            code="one-referee",
        )
    # Tested once here; worker processes inherit the result.
    level = best()
    log.info("sandbox level of bots: %s", level)
    if referee is None:
        return run_host(where, workers, address, environment, name=name, burst=burst, most=most)
    claim = _claim(referee)
    name = name or fresh_name()
    engine = database.open(url)
    resources = WorkerResources(
        engine,
        referee,
        name,
        where.outputs,
        where.versions,
        address.url,
        watch_ms,
        environment.get(config.WATCH_NOTES) == "1",
        most_bytes=most_bytes,
    )
    log.info(
        "worker %s: Redis %s, referee %s", name, redis_server.without_password(address.url), referee
    )
    play, on_crash = (
        functools.partial(attempt, resources),
        functools.partial(_release_leases, resources),
    )
    idle_work = idle_analysis.idle_work(engine, environment)
    worker = MatchWorker(connect(address.url), play, name, on_crash, level, idle_work)
    with claim, idle_work or contextlib.nullcontext():
        worker.work(logging_level="WARNING", burst=burst, max_jobs=most)
    return 0


def _claim(referee: str) -> socket.socket:
    """Reserve a referee for this worker; other workers on this machine cannot reserve it.

    Returns:
        A socket bound to an abstract name. The kernel gives the name to one process at a time and
        releases it when that process ends.

    Raises:
        NoServices: another worker uses the referee.
    """
    name = hashlib.sha256(referee.encode()).hexdigest()[:32]
    claim = socket.socket(socket.AF_UNIX)
    deadline = time.monotonic() + _CLAIM_SECONDS
    while True:
        try:
            claim.bind(f"\0pokearena-referee-{name}")
        except OSError:
            # The worker process of a killed worker keeps the name for a moment.
            if time.monotonic() > deadline:
                claim.close()
                raise NoServices(
                    f"another worker uses the referee at {referee}. A referee serves one worker:"
                    f" unset {config.REFEREE} to let this worker start its own."
                ) from None
            time.sleep(_CLAIM_POLL_SECONDS)
        else:
            return claim


def on_this_host(
    where: Folder, environment: Mapping[str, str] = os.environ
) -> tuple[Address, list[WorkerInfo]]:
    """Return the arena's Redis and the workers registered in it that run, or ran, on this host.

    Raises:
        NoServices: Redis is not named, and services do not run for this folder.
        RedisError: Redis is not available (own class or the client's).
        SettingError: a setting is invalid.
    """
    from arena.queue.match_queue import workers

    address = redis_server.find(where, environment)
    if address is None:
        raise NoServices(
            f"no services run for {where.root}: start them, or set POKEARENA_REDIS_URL."
        )
    host = socket.gethostname()
    return address, [info for info in workers(connect(address.url)) if info.host == host]


def _release_leases(resources: WorkerResources) -> None:
    """Release the match of an exited worker process now, before its lease expires."""
    from sqlalchemy.exc import SQLAlchemyError

    from arena.errors import StoreError
    from arena.store.matches import transitions

    try:
        transitions.lapse(resources.engine, resources.owner)
    except (SQLAlchemyError, StoreError) as error:
        log.warning(
            "worker %s: cannot release its match; the lease will lapse: %s", resources.owner, error
        )
    finally:
        # The next worker process must not inherit a connection: SQLite connections do not survive a
        # fork.
        resources.engine.dispose()


def main() -> int:
    """Run `python -m arena.services.worker_process`, and log errors that prevent the start.

    The supervisor starts this program. The command for users is `pokearena worker`.
    """
    from redis.exceptions import RedisError

    from arena.errors import InfrastructureError

    parser = argparse.ArgumentParser(prog="worker", description="Plays matches.")
    parser.add_argument("--data", help="the data folder")
    parser.add_argument("--name", help="unique name of the worker")
    parser.add_argument("--burst", action="store_true", help="end when the queue is empty")
    parser.add_argument("--max-matches", type=int, help="end after this number of attempts")
    arguments = parser.parse_args()
    logs.set_up()
    where = config.locate(arguments.data)
    try:
        return run(where, arguments.name, burst=arguments.burst, most=arguments.max_matches)
    except (
        config.SettingError,
        redis_server.RedisError,
        InfrastructureError,
        NoServices,
        # Redis failed between two matches.
        RedisError,
    ) as error:
        log.error("%s", error)
        return _UNREACHABLE


if __name__ == "__main__":
    sys.exit(main())
