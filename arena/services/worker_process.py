"""The process of `pokearena worker`: one worker, or the host of several with a referee each."""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import logging
import os
import socket
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from arena import config
from arena.bots.sandbox import available_levels, stored_level
from arena.bots.sandbox.level import Level, refusal
from arena.config import Folder
from arena.errors import InfrastructureError, StoreError
from arena.services import idle_computations, worker_host
from arena.services.queue import redis_server
from arena.services.queue.redis_server import Address
from arena.services.queue.worker import MatchWorker, WorkerSandbox
from arena.services.queue.worker_games import package_check
from arena.services.queue.worker_registrations import (
    MODELS_QUEUE,
    QUEUE,
    QUEUES,
    SandboxState,
    WorkerInfo,
    fresh_name,
    workers,
)
from arena.services.queue.worker_sandboxes import UNAVAILABLE
from arena.store import database
from arena.system.process_info import require_linux
from arena.system.redis_connection import connect
from referee import logs
from referee.games.contract import SetupError
from referee.games.registry import GAMES

if TYPE_CHECKING:
    from arena.matches.attempt import WorkerResources
    from arena.services.queue.idle_work import IdleWork


_UNREACHABLE = 3
_WATCH_MS = 250
_BURST_SECONDS = 3
"""The queue is short, and the sweeper fills it every second while matches are due."""
_CLAIM_SECONDS = 10.0
_CLAIM_POLL_SECONDS = 0.1

log = logging.getLogger("arena.worker")


class ChosenSandbox(WorkerSandbox):
    """The level that this machine offers (`arena.bots.sandbox.available_levels`)."""

    def check(self) -> None:
        """Check that the chosen level holds.

        Raises:
            InfrastructureError: it does not hold now.
        """
        available_levels.best_level()

    def doubt(self) -> None:
        """Let the next check run the self-test again."""
        available_levels.doubt_level()

    def state(self) -> SandboxState:
        """Return the state without a self-test, which could delay a heartbeat."""
        try:
            stored = stored_level.stored_level()
        except InfrastructureError:
            stored = None
        level = available_levels.current_level()
        return SandboxState(
            level or UNAVAILABLE, stored or "", level is not None and plays_pushed(level)
        )


def plays_pushed(level: Level) -> bool:
    """Return whether pushed versions play at a level."""
    return not refusal("a pushed version", trusted=False, level=level)


class NoServices(Exception):
    """The services of an arena cannot be found. The exception's text is a sentence for people."""


def run(
    data_folder: Folder,
    name: str | None = None,
    environment: Mapping[str, str] = os.environ,
    *,
    workers: int = 1,
    burst: bool = False,
    max_attempts: int | None = None,
    queue: str = QUEUE,
) -> int:
    """Run workers until they are stopped, and return the exit status.

    If POKEARENA_REFEREE names a referee, this process is the only worker. Otherwise it supervises
    the workers, with one referee each.

    Args:
        name: the worker's name, or the prefix of several; None: from the host name.
        burst: a worker ends when no job has waited for `_BURST_SECONDS`.
        max_attempts: a worker ends after this number of attempts; None: unlimited.
        queue: the queue that the workers listen to.

    Raises:
        NoServices: Redis or the database is not named, or another worker uses the referee.
        RedisUnavailable: Redis is not available.
        InfrastructureError: the worker cannot start.
        StoreError: the store cannot be used.
        SettingError: a setting is invalid.
    """
    require_linux("Workers run")
    # Imported before the first fork, so that matches do not spend time on it.
    from arena.bots.sandbox import stored_level
    from arena.matches.attempt import WorkerResources

    GAMES.load_all()
    watch_ms, most_bytes = _watch_ms(environment), config.most_versions(environment)
    address = _find_services(data_folder, environment, workers)
    data_folder.make_private()
    url = data_folder.database_url(environment)
    stored_level.use_folder(data_folder.root)
    _choose_level()
    referee = environment.get(config.REFEREE)
    if referee is None:
        return worker_host.run(
            data_folder,
            workers,
            address,
            environment,
            name=name,
            burst=burst,
            max_attempts=max_attempts,
            queue=queue,
        )
    claim = _claim(referee)
    resources = WorkerResources(
        database.open(url),
        referee,
        name or fresh_name(),
        data_folder.outputs,
        data_folder.versions,
        address.url,
        watch_ms,
        environment.get(config.WATCH_NOTES) == "1",
        most_bytes=most_bytes,
        models_folder=data_folder.root,
        game_check=functools.partial(package_check, address.url),
    )
    # There are more workers for models than cores, which the analyses would occupy.
    is_for_models = queue == MODELS_QUEUE
    idle_work = (
        None if is_for_models else idle_computations.idle_work(resources.engine, environment)
    )
    worker = _worker(resources, address.url, idle_work, queue)
    with claim, idle_work or contextlib.nullcontext():
        worker.run(max_idle_seconds=_BURST_SECONDS if burst else None, max_jobs=max_attempts)
    return 0


def _choose_level() -> None:
    """Choose the sandbox level; the processes of matches inherit the result.

    A worker whose sandbox failed or is gone takes no match until it is back.
    """
    from arena.bots.sandbox import available_levels

    try:
        choice = available_levels.chosen_level()
    except InfrastructureError as error:
        if error.code in available_levels.WRONG_SETTING:
            raise
        log.error("no match is played: %s", error)
    else:
        log.info("sandbox level of bots: %s", choice.sentence())


def _worker(
    resources: WorkerResources, redis: str, idle_work: IdleWork | None, queue: str
) -> MatchWorker:
    from arena.matches.attempt import attempt

    log.info(
        "worker %s: Redis %s, referee %s",
        resources.owner,
        redis_server.without_password(redis),
        resources.referee,
    )
    return MatchWorker(
        connect(redis),
        functools.partial(attempt, resources),
        resources.owner,
        functools.partial(_release_leases, resources),
        ChosenSandbox(),
        idle_work,
        resources.breaker,
        queue,
    )


def _watch_ms(environment: Mapping[str, str]) -> int:
    """Return the milliseconds between two published positions; 0: none are published."""
    try:
        return max(0, int(environment.get(config.WATCH_MS) or _WATCH_MS))
    except ValueError:
        raise config.SettingError(
            f"{config.WATCH_MS} must be a number of milliseconds. 0 publishes no positions.",
            code="not-a-time",
        ) from None


def _find_services(data_folder: Folder, environment: Mapping[str, str], workers: int) -> Address:
    """Check that workers can run here, and return the address of their Redis."""
    address = redis_server.find_redis(data_folder, environment)
    if address is None:
        raise NoServices(
            f"no services run for {data_folder.root}: start `pokearena serve` there, or set"
            " POKEARENA_REDIS_URL and POKEARENA_DATABASE_URL to the Redis and the database of"
            " services on another machine."
        )
    referee = environment.get(config.REFEREE)
    if (
        referee is None
        and data_folder.running() is None
        and not data_folder.shares_store(environment)
    ):
        raise NoServices(
            f"no services run for {data_folder.root}: set POKEARENA_DATABASE_URL to the database of"
            " services on another machine, or POKEARENA_REFEREE to a referee on this machine."
        )
    if referee is not None and workers > 1:
        raise config.SettingError(
            f"{config.REFEREE} names one referee, and {workers} workers need one each: unset it,"
            " or start one worker.",
            code="one-referee",
        )
    return address


def _claim(referee: str) -> socket.socket:
    """Reserve a referee for this worker; other workers on this machine cannot reserve it.

    Returns:
        A socket bound to an abstract name. The kernel gives the name to one process at a time and
        releases it when that process ends.
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


def on_this_host(data_folder: Folder) -> tuple[Address, list[WorkerInfo]]:
    """Return the arena's Redis and the workers registered in it that run, or ran, on this host.

    Raises:
        NoServices: Redis is not named, and services do not run for this folder.
        RedisUnavailable, redis.exceptions.RedisError: Redis does not answer.
        SettingError: a setting is invalid.
    """
    address = redis_server.find_redis(data_folder, os.environ)
    if address is None:
        raise NoServices(
            f"no services run for {data_folder.root}: start them, or set POKEARENA_REDIS_URL."
        )
    host = socket.gethostname()
    return address, [info for info in workers(connect(address.url)) if info.host == host]


def _release_leases(resources: WorkerResources) -> None:
    """Release the match of an exited worker process now, before its lease expires."""

    from arena.store.matches import match_leases

    try:
        match_leases.end_leases(resources.engine, resources.owner)
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
    parser = argparse.ArgumentParser(prog="worker", description="Plays matches.")
    parser.add_argument("--data", help="the data folder")
    parser.add_argument("--name", help="unique name of the worker")
    parser.add_argument(
        "--burst", action="store_true", help="end when no match has been due for 3 s"
    )
    parser.add_argument("--max-matches", type=int, help="end after this number of attempts")
    parser.add_argument("--queue", choices=QUEUES, default=QUEUE, help="the queue to listen to")
    arguments = parser.parse_args()
    logs.set_up()
    data_folder = config.locate(arguments.data)
    try:
        return run(
            data_folder,
            arguments.name,
            burst=arguments.burst,
            max_attempts=arguments.max_matches,
            queue=arguments.queue,
        )
    except (
        config.SettingError,
        redis_server.RedisUnavailable,
        InfrastructureError,
        NoServices,
        # The game of an allowed package cannot be loaded.
        SetupError,
        # Redis failed between two matches.
        RedisError,
    ) as error:
        log.error("%s", error)
        return _UNREACHABLE


if __name__ == "__main__":
    sys.exit(main())
