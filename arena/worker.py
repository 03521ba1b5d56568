"""The worker's process: finds its Redis and its referee, and plays what the queue hints at."""

from __future__ import annotations

import argparse
import functools
import logging
import os
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from arena import folder, redis_server
from arena.folder import Folder
from arena.match_worker import MatchWorker
from arena.queue import connect, fresh_name

if TYPE_CHECKING:
    from arena.attempt import Bench

_WATCH_MS = 250

log = logging.getLogger("arena.worker")


def run(
    where: Folder,
    name: str | None = None,
    environment: Mapping[str, str] = os.environ,
    *,
    burst: bool = False,
    most: int | None = None,
) -> int:
    """A worker until it is told to stop. Returns the exit status: 3 if something is missing.

    burst: it ends when no match waits any more. most: it ends when it has tried so many.
    """
    # Imported before the first fork, so that a match need not wait for it.
    from arena.attempt import Bench, attempt
    from arena.bots.errors import InfrastructureError
    from arena.bots.sandbox import best
    from arena.store import database

    try:
        watch_ms = max(0, int(environment.get(folder.WATCH_MS) or _WATCH_MS))
    except ValueError:
        return _missing(f"{folder.WATCH_MS} must be a number of milliseconds; 0 shows nothing")
    try:
        found = redis_server.find(where, environment)
    except redis_server.RedisError as error:
        return _missing(str(error))
    running = where.running()
    referee = environment.get(folder.REFEREE) or (running.referee if running else None)
    if found is None or referee is None:
        return _missing(
            f"no services run for {where.root}: start `pokearena serve` there, or name a Redis in"
            " POKEARENA_REDIS_URL and a referee in POKEARENA_REFEREE"
        )
    try:
        # Tried out here, once: work horses inherit what was found.
        level = best()
    except InfrastructureError as error:
        return _missing(str(error))
    log.info("bots run at the level %s", level)
    name = name or fresh_name()
    engine = database.open(where.database_url(environment))
    bench = Bench(engine, referee, name, where.outputs, where.versions, found.url, watch_ms)
    log.info("worker %s: Redis %s, referee %s", name, redis_server.shown(found.url), referee)
    play, fallen = functools.partial(attempt, bench), functools.partial(_let_lapse, bench)
    worker = MatchWorker(connect(found.url), play, name, fallen, level)
    worker.work(logging_level="WARNING", burst=burst, max_jobs=most)
    return 0


def check(where: Folder, environment: Mapping[str, str] = os.environ) -> int:
    """Whether a worker of this host shows itself in Redis; for containers, which are hosts.

    Returns the exit status: 0 if one does, 1 if none does, 3 if Redis cannot be asked.
    """
    from redis.exceptions import RedisError

    from arena.queue import workers

    try:
        found = redis_server.find(where, environment)
        if found is None:
            return _missing(f"no Redis is named, and no services run for {where.root}")
        here = [info for info in workers(connect(found.url)) if info.host == socket.gethostname()]
    except (redis_server.RedisError, RedisError) as error:
        return _missing(str(error))
    for info in here:
        print(f"{info.name}: {info.state if info.alive else 'silent'}")
    return 0 if any(info.alive for info in here) else 1


def _let_lapse(bench: Bench) -> None:
    """Gives up what a fallen work horse had, rather than waiting for its lease to lapse."""
    from sqlalchemy.exc import SQLAlchemyError

    from arena.store import matches
    from arena.store.errors import StoreError

    try:
        matches.lapse(bench.engine, bench.owner)
    except (SQLAlchemyError, StoreError) as error:
        log.warning("worker %s: its match waits for its lease to lapse: %s", bench.owner, error)
    finally:
        # The next work horse must not inherit a connection: SQLite does not survive forks.
        bench.engine.dispose()


def _missing(sentence: str) -> int:
    print(f"worker: {sentence}", file=sys.stderr)
    return 3


def main() -> int:
    """The program `python -m arena.worker`: reads the command line and the environment."""
    parser = argparse.ArgumentParser(prog="worker", description="Plays matches.")
    parser.add_argument("--data", help="the data folder")
    parser.add_argument("--name", help="a name that no other worker has")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    return run(folder.locate(arguments.data), arguments.name)


if __name__ == "__main__":
    sys.exit(main())
