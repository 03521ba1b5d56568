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
from arena.queue import WorkerInfo, connect, fresh_name
from arena.redis_server import Address
from referee import logs

if TYPE_CHECKING:
    from arena.attempt import Bench

_UNREACHABLE = 3
_WATCH_MS = 250

log = logging.getLogger("arena.worker")


class NoServices(Exception):
    """Nothing says what there is to work for. Its text is a sentence for a person."""


def run(
    where: Folder,
    name: str | None = None,
    environment: Mapping[str, str] = os.environ,
    *,
    workers: int = 1,
    burst: bool = False,
    most: int | None = None,
) -> int:
    """Workers until they are told to stop. Returns the exit status.

    One worker with a referee that there is already, in POKEARENA_REFEREE or of services of the
    data folder, is this process. Else it watches over workers and a referee of their own.

    burst: they end when no match waits any more. most: each ends when it has tried so many.

    Raises NoServices, RedisError, InfrastructureError or StoreError if they cannot begin, and
    SettingError if a setting is wrong.
    """
    # Imported before the first fork, so that a match need not wait for it.
    from arena import outpost
    from arena.attempt import Bench, attempt
    from arena.bots.sandbox import best
    from arena.store import database

    try:
        watch_ms = max(0, int(environment.get(folder.WATCH_MS) or _WATCH_MS))
    except ValueError:
        raise folder.SettingError(
            f"{folder.WATCH_MS} must be a number of milliseconds; 0 shows nothing."
        ) from None
    most = folder.most_versions(environment)
    found = redis_server.find(where, environment)
    if found is None:
        raise NoServices(
            f"no services run for {where.root}: start `pokearena serve` there, or name the Redis"
            " and the database of services elsewhere in POKEARENA_REDIS_URL and"
            " POKEARENA_DATABASE_URL."
        )
    url = where.database_url(environment)
    running = where.running()
    shared = where.shares_store(environment)
    is_served = running is not None and (not shared or reach.answers(running.referee))
    served = running.referee if running is not None and is_served else None
    referee = environment.get(folder.REFEREE) or served
    if referee is None and not shared:
        raise NoServices(
            f"no services run for {where.root}, and no database is named: name that of services"
            " elsewhere in POKEARENA_DATABASE_URL, or a referee here in POKEARENA_REFEREE."
        )
    # Tried out here, once: work horses inherit what was found.
    level = best()
    log.info("bots run at the level %s", level)
    if referee is None or workers > 1:
        return outpost.run(
            where, workers, found, environment, name=name, referee=referee, burst=burst, most=most
        )
    name = name or fresh_name()
    engine = database.open(url)
    bench = Bench(
        engine, referee, name, where.outputs, where.versions, found.url, watch_ms, most_bytes=most
    )
    log.info("worker %s: Redis %s, referee %s", name, redis_server.shown(found.url), referee)
    play, fallen = functools.partial(attempt, bench), functools.partial(_let_lapse, bench)
    worker = MatchWorker(connect(found.url), play, name, fallen, level)
    worker.work(logging_level="WARNING", burst=burst, max_jobs=most)
    return 0


def on_this_host(
    where: Folder, environment: Mapping[str, str] = os.environ
) -> tuple[Address, list[WorkerInfo]]:
    """The Redis that workers show themselves in, and those of this host that do, or did.

    Raises NoServices, RedisError (ours, or the client's) and SettingError.
    """
    from arena.queue import workers

    found = redis_server.find(where, environment)
    if found is None:
        raise NoServices(f"no Redis is named, and no services run for {where.root}.")
    host = socket.gethostname()
    return found, [info for info in workers(connect(found.url)) if info.host == host]


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


def main() -> int:
    """The program `python -m arena.worker`: reads the command line and the environment.

    `pokearena worker` is for people; this one says in its log what keeps it from its work.
    """
    from arena.bots.errors import InfrastructureError

    parser = argparse.ArgumentParser(prog="worker", description="Plays matches.")
    parser.add_argument("--data", help="the data folder")
    parser.add_argument("--name", help="a name that no other worker has")
    parser.add_argument("--burst", action="store_true", help="end when no match waits any more")
    parser.add_argument("--max-matches", type=int, help="end when so many have been tried")
    arguments = parser.parse_args()
    logs.set_up()
    where = folder.locate(arguments.data)
    try:
        return run(where, arguments.name, burst=arguments.burst, most=arguments.max_matches)
    except (
        folder.SettingError,
        redis_server.RedisError,
        InfrastructureError,
        NoServices,
    ) as error:
        log.error("%s", error)
        return _UNREACHABLE


if __name__ == "__main__":
    sys.exit(main())
