"""The machines with workers, in Redis: one whose workers vanish without stopping is lost.

A worker that stops removes its registration, and the last one of a machine removes the machine.
Killed workers are restarted by their supervisor, so a machine that stays without a live worker was
switched off, cut off, or killed.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from arena.queue.match_queue import HOSTS, WorkerInfo, workers

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline

FORGOTTEN_SECONDS: Final = 86400.0
"""A lost machine is reported for a day."""


def note_host(connection: Redis | Pipeline, host: str) -> None:
    """Note that a worker of this machine is alive.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    connection.zadd(HOSTS, {host: time.time()})


def remove_stopped_host(connection: Redis, host: str) -> None:
    """Remove a machine if none of its workers is registered, because the last one has stopped.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    if all(worker.host != host for worker in workers(connection)):
        connection.zrem(HOSTS, host)


def lost_hosts(connection: Redis, registered: Collection[WorkerInfo]) -> set[str]:
    """Return the machines whose workers vanished within the last day.

    Args:
        connection: the arena's Redis.
        registered: the result of `match_queue.workers`.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    connection.zremrangebyscore(HOSTS, "-inf", time.time() - FORGOTTEN_SECONDS)
    known = connection.zrange(HOSTS, 0, -1)
    names = {host.decode(errors="replace") for host in known if isinstance(host, bytes)}
    return names - live_hosts(registered)


def live_hosts(registered: Collection[WorkerInfo]) -> set[str]:
    """Return the machines of the workers that are alive."""
    return {worker.host for worker in registered if worker.alive}
