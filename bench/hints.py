"""The queue: hints put, and followed by a worker, beside the least that Redis and RQ can do.

    uv run python -m bench hints

A hint is an RQ job that may be there once. A worker forks for each; here the fork does nothing.
"""

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from redis import Redis
from rq import Queue, Worker
from rq.serializers import JSONSerializer

from arena.queue import redis_server
from arena.queue.match_queue import MatchQueue
from arena.queue.worker import Drain, MatchWorker
from arena.system.redis_connection import connect
from bench.figure import Figure

HINTS = 1000
FOLLOWED = 60


def nothing(match: str, drain: Drain | None = None) -> None:
    """Follows a hint at once."""


def per_second(number: int, work: Callable[[], object]) -> float:
    """How many of so many a second the work does."""
    began = time.perf_counter()
    work()
    return number / (time.perf_counter() - began)


def put(connection: Redis) -> None:
    """Puts hints."""
    hints = MatchQueue(connection)
    for _ in range(HINTS):
        hints.put(f"m-{secrets.token_hex(5)}")


def push(connection: Redis) -> None:
    """Puts as many ids into a list, and nothing else."""
    for _ in range(HINTS):
        connection.rpush("ids", f"m-{secrets.token_hex(5)}")


def followed(connection: Redis) -> float:
    """Hints a second that a worker of ours follows."""
    hints = MatchQueue(connection)
    for _ in range(FOLLOWED):
        hints.put(f"m-{secrets.token_hex(5)}")
    worker = MatchWorker(connection, nothing)
    return per_second(FOLLOWED, lambda: worker.work(burst=True, logging_level="ERROR"))


def worked(connection: Redis) -> float:
    """Jobs a second that RQ's own worker does."""
    queue = Queue("plain", connection=connection, serializer=JSONSerializer)
    for _ in range(FOLLOWED):
        queue.enqueue(nothing, secrets.token_hex(5), result_ttl=0)
    worker = Worker([queue], connection=connection, serializer=JSONSerializer)
    return per_second(FOLLOWED, lambda: worker.work(burst=True, logging_level="ERROR"))


def figures(rounds: int) -> Iterator[Figure]:
    """Hints put a second, and hints followed a second by one worker."""
    puts: tuple[list[float], list[float]] = ([], [])
    follows: tuple[list[float], list[float]] = ([], [])
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        server = redis_server.start(Path(folder), Path(folder) / "redis.log")
        try:
            with connect(server.url) as connection:
                for _ in range(rounds):
                    puts[0].append(per_second(HINTS, lambda: put(connection)))
                    puts[1].append(per_second(HINTS, lambda: push(connection)))
                    connection.flushall()
                    follows[0].append(followed(connection))
                    follows[1].append(worked(connection))
        finally:
            server.stop()
    yield Figure("hints put", "hints a second", puts[0], "ids pushed onto a list", puts[1])
    name = "hints followed by one worker, a fork each"
    yield Figure(name, "hints a second", follows[0], "RQ's own worker, a fork each", follows[1])
