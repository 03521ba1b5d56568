"""Measure the match queue: jobs enqueued and run, compared with RQ alone.

    uv run python -m bench queue

Jobs are enqueued in batches of 16, as the sweeper does it for eight workers. A worker forks for
each job; here the fork does nothing. The queue is emptied after each batch, because it is short.
"""

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from redis import Redis
from rq import Queue, Worker
from rq.serializers import JSONSerializer

from arena.services.queue import redis_server
from arena.services.queue.match_queue import MatchQueue
from arena.services.queue.worker import MatchWorker
from arena.system.process_log import ProcessLog
from arena.system.redis_connection import connect
from bench.figure import Figure, FigureTarget

ENQUEUED = 1000
BATCH = 16
TARGET = 0.6
"""At least this share of the jobs that RQ alone enqueues."""
FOLLOWED = 60


def nothing(match: str, drain: object = None) -> None:
    """Return at once."""


def per_second(number: int, work: Callable[[], object]) -> float:
    """Run `work` and return `number` divided by its seconds."""
    began = time.perf_counter()
    work()
    return number / (time.perf_counter() - began)


def put(connection: Redis) -> None:
    """Enqueue jobs in batches, as the sweeper does."""
    queue = MatchQueue(connection)
    for _ in range(ENQUEUED // BATCH):
        queue.enqueue(*(f"m-{secrets.token_hex(5)}" for _ in range(BATCH)))
        connection.flushall()


def put_plainly(connection: Redis) -> None:
    """Enqueue the same number of jobs by RQ alone."""
    queue = Queue("plain", connection=connection, serializer=JSONSerializer)
    for _ in range(ENQUEUED // BATCH):
        ids = (secrets.token_hex(5) for _ in range(BATCH))
        queue.enqueue_many([Queue.prepare_data(nothing, args=(each,)) for each in ids])
        connection.flushall()


def followed(connection: Redis) -> float:
    """Return the jobs per second of the arena's worker."""
    queue = MatchQueue(connection)
    queue.enqueue(*(f"m-{secrets.token_hex(5)}" for _ in range(FOLLOWED)))
    worker = MatchWorker(connection, nothing)
    return per_second(FOLLOWED, lambda: worker.run(max_jobs=FOLLOWED))


def worked(connection: Redis) -> float:
    """Return the jobs per second of RQ's own worker."""
    queue = Queue("plain", connection=connection, serializer=JSONSerializer)
    for _ in range(FOLLOWED):
        queue.enqueue(nothing, secrets.token_hex(5), result_ttl=0)
    worker = Worker([queue], connection=connection, serializer=JSONSerializer)
    return per_second(FOLLOWED, lambda: worker.work(burst=True, logging_level="ERROR"))


def figures(rounds: int) -> Iterator[Figure]:
    """Yield jobs enqueued per second, and jobs run per second by one worker."""
    puts: tuple[list[float], list[float]] = ([], [])
    follows: tuple[list[float], list[float]] = ([], [])
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        server = redis_server.start(Path(folder), ProcessLog(Path(folder) / "redis.log"))
        try:
            with connect(server.url) as connection:
                for _ in range(rounds):
                    puts[0].append(per_second(ENQUEUED, lambda: put(connection)))
                    puts[1].append(per_second(ENQUEUED, lambda: put_plainly(connection)))
                    connection.flushall()
                    follows[0].append(followed(connection))
                    follows[1].append(worked(connection))
        finally:
            server.stop()
    name = "jobs enqueued, in batches"
    target = FigureTarget(TARGET, of_ratio=True)
    yield Figure(name, "jobs a second", puts[0], "RQ's enqueue_many alone", puts[1], target)
    name = "jobs run by one worker, a fork each"
    yield Figure(name, "jobs a second", follows[0], "RQ's own worker, a fork each", follows[1])
