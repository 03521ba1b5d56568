"""The worker's process: finds its Redis and its referee, and plays matches from the queue."""

from __future__ import annotations

import argparse
import functools
import hashlib
import logging
import os
import socket
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from arena import config
from arena.config import Folder
from arena.queue import redis_server
from arena.queue.match_queue import WorkerInfo, fresh_name
from arena.queue.redis_server import Address
from arena.queue.worker import MatchWorker
from arena.system.redis_connection import connect
from referee import logs

if TYPE_CHECKING:
    from arena.matches.attempt import Bench

_UNREACHABLE = 3
_WATCH_MS = 250
_CLAIM_SECONDS = 10.0
_CLAIM_LOOK_SECONDS = 0.1

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
    # Imported before the first fork, so that matches do not spend time on it.
    from arena.bots.sandbox.available_levels import best
    from arena.matches.attempt import Bench, attempt
    from arena.services import worker_host
    from arena.store import database

    try:
        watch_ms = max(0, int(environment.get(config.WATCH_MS) or _WATCH_MS))
    except ValueError:
        raise config.SettingError(
            f"{config.WATCH_MS} must be a number of milliseconds; 0 shows nothing."
        ) from None
    most_bytes = config.most_versions(environment)
    found = redis_server.find(where, environment)
    if found is None:
        raise NoServices(
            f"no services run for {where.root}: start `pokearena serve` there, or name the Redis"
            " and the database of services elsewhere in POKEARENA_REDIS_URL and"
            " POKEARENA_DATABASE_URL."
        )
    url = where.database_url(environment)
    referee = environment.get(config.REFEREE)
    if referee is None and where.running() is None and not where.shares_store(environment):
        raise NoServices(
            f"no services run for {where.root}, and no database is named: name that of services"
            " elsewhere in POKEARENA_DATABASE_URL, or a referee here in POKEARENA_REFEREE."
        )
    if referee is not None and workers > 1:
        raise config.SettingError(
            f"{config.REFEREE} names one referee, and {workers} workers need one each: unset it,"
            " or start one worker."
        )
    # Tested once here; worker processes inherit the result.
    level = best()
    log.info("bots run at the level %s", level)
    if referee is None:
        return worker_host.run(
            where, workers, found, environment, name=name, burst=burst, most=most
        )
    claim = _claim(referee)
    name = name or fresh_name()
    engine = database.open(url)
    bench = Bench(
        engine,
        referee,
        name,
        where.outputs,
        where.versions,
        found.url,
        watch_ms,
        most_bytes=most_bytes,
    )
    log.info("worker %s: Redis %s, referee %s", name, redis_server.shown(found.url), referee)
    play, on_crash = functools.partial(attempt, bench), functools.partial(_let_lapse, bench)
    worker = MatchWorker(connect(found.url), play, name, on_crash, level)
    with claim:
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
                    f"another worker uses the referee at {referee}, and a referee serves one"
                    f" worker: unset {config.REFEREE}, and this worker starts its own."
                ) from None
            time.sleep(_CLAIM_LOOK_SECONDS)
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

    found = redis_server.find(where, environment)
    if found is None:
        raise NoServices(f"no Redis is named, and no services run for {where.root}.")
    host = socket.gethostname()
    return found, [info for info in workers(connect(found.url)) if info.host == host]


def _let_lapse(bench: Bench) -> None:
    """Release the match of an exited worker process now, before its lease expires."""
    from sqlalchemy.exc import SQLAlchemyError

    from arena.errors import StoreError
    from arena.store.matches import transitions

    try:
        transitions.lapse(bench.engine, bench.owner)
    except (SQLAlchemyError, StoreError) as error:
        log.warning("worker %s: its match waits for its lease to lapse: %s", bench.owner, error)
    finally:
        # The next worker process must not inherit a connection: SQLite connections do not survive a
        # fork.
        bench.engine.dispose()


def main() -> int:
    """Run `python -m arena.services.worker_process`, and log errors that prevent the start.

    The supervisor starts this program. The command for users is `pokearena worker`.
    """
    from redis.exceptions import RedisError

    from arena.errors import InfrastructureError

    parser = argparse.ArgumentParser(prog="worker", description="Plays matches.")
    parser.add_argument("--data", help="the data folder")
    parser.add_argument("--name", help="a name that no other worker has")
    parser.add_argument("--burst", action="store_true", help="end when no match waits any more")
    parser.add_argument("--max-matches", type=int, help="end when so many have been tried")
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
