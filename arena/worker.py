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

from arena import folder, reach, redis_server
from arena.folder import Folder
from arena.match_worker import MatchWorker
from arena.queue import connect, fresh_name
from referee import logs

if TYPE_CHECKING:
    from arena.attempt import Bench

_WATCH_MS = 250

log = logging.getLogger("arena.worker")


def run(
    where: Folder,
    name: str | None = None,
    environment: Mapping[str, str] = os.environ,
    *,
    workers: int = 1,
    burst: bool = False,
    most: int | None = None,
) -> int:
    """Workers until they are told to stop. Returns the exit status: 3 if something is missing.

    One worker with a referee that there is already, in POKEARENA_REFEREE or of services of the
    data folder, is this process. Else it watches over workers and a referee of their own.

    burst: they end when no match waits any more. most: each ends when it has tried so many.
    """
    # Imported before the first fork, so that a match need not wait for it.
    from arena import outpost
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
        if found is None:
            return _missing(
                f"no services run for {where.root}: start `pokearena serve` there, or name the"
                " Redis and the database of services elsewhere in POKEARENA_REDIS_URL and"
                " POKEARENA_DATABASE_URL"
            )
        url = where.database_url(environment)
    except (redis_server.RedisError, folder.SettingError) as error:
        return _missing(str(error))
    running = where.running()
    shared = where.shares_store(environment)
    is_served = running is not None and (not shared or reach.answers(running.referee))
    served = running.referee if running is not None and is_served else None
    referee = environment.get(folder.REFEREE) or served
    if referee is None and not shared:
        return _missing(
            f"no services run for {where.root}, and no database is named: name that of services"
            " elsewhere in POKEARENA_DATABASE_URL, or a referee here in POKEARENA_REFEREE"
        )
    try:
        # Tried out here, once: work horses inherit what was found.
        level = best()
    except InfrastructureError as error:
        return _missing(str(error))
    log.info("bots run at the level %s", level)
    if referee is None or workers > 1:
        return outpost.run(
            where, workers, found, environment, name=name, referee=referee, burst=burst, most=most
        )
    name = name or fresh_name()
    engine = database.open(url)
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
    except (redis_server.RedisError, folder.SettingError, RedisError) as error:
        return _missing(str(error))
    for info in here:
        print(f"{info.name}: {info.state if info.alive else 'silent'}")
    if any(info.alive for info in here):
        return 0
    known = "the workers of this host are silent" if here else "no worker of this host shows itself"
    print(f"worker: {known} in {redis_server.shown(found.url)}", file=sys.stderr)
    return 1


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
    parser.add_argument("--burst", action="store_true", help="end when no match waits any more")
    parser.add_argument("--max-matches", type=int, help="end when so many have been tried")
    arguments = parser.parse_args()
    logs.set_up()
    where = folder.locate(arguments.data)
    return run(where, arguments.name, burst=arguments.burst, most=arguments.max_matches)


if __name__ == "__main__":
    sys.exit(main())
