"""Run background threads and tasks until they are stopped, and restart them after every failure.

An unexpected exception must not end a thread or task silently: it is logged with its traceback,
counted in Redis for `doctor`, `serve` and the metrics, and the work starts again after a pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Final

from redis.exceptions import RedisError

from arena.store.events import incidents
from arena.system import redis_connection
from arena.system.backoff import Backoff

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0
STEADY_SECONDS: Final = 60.0
"""After a run of at least this length, in seconds, the next pause is the first one again."""

log = logging.getLogger("arena.services")


def _backoff() -> Backoff:
    return Backoff(FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, STEADY_SECONDS)


def keep_running(service: str, work: Callable[[], None], redis: str, stop: threading.Event) -> None:
    """Run `work` in this thread until it returns; restart it when it raises.

    Args:
        service: the name under which failures are counted.
        redis: the address of the Redis that counts the failures; empty for none.
        stop: ends the pauses, and with them the restarts.
    """
    backoff = _backoff()
    while True:
        began = time.monotonic()
        try:
            return work()
        except Exception as error:
            pause = backoff.after(time.monotonic() - began)
            report(service, error, redis, pause)
        if stop.wait(pause):
            return None


async def keep_task_running(
    service: str, work: Callable[[], Awaitable[None]], redis: str = ""
) -> None:
    """Run `work` in this task until it returns; restart it when it raises.

    Args:
        service: the name under which failures are counted.
        redis: the address of the Redis that counts the failures; empty for none.
    """
    backoff = _backoff()
    while True:
        began = time.monotonic()
        try:
            return await work()
        except Exception as error:
            pause = backoff.after(time.monotonic() - began)
            await asyncio.to_thread(report, service, error, redis, pause)
        await asyncio.sleep(pause)


def report(service: str, error: Exception, redis: str, pause: float) -> None:
    """Log an unexpected failure with its traceback and count it in Redis.

    Args:
        service: the name of the service that failed.
        error: the failure; of a group with one member, the member is counted.
        redis: the address of the Redis; empty for none.
        pause: the seconds until the service starts again.
    """
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    log.error("%s failed unexpectedly, restart in %.1f s", service, pause, exc_info=error)
    count(service, error, redis)


def count(service: str, error: Exception, redis: str) -> None:
    """Count a failure in Redis, so that `doctor` and the metrics show it; empty: no Redis."""
    if redis:
        with contextlib.suppress(RedisError), redis_connection.connect(redis) as connection:
            incidents.note_failure(connection, service, error)
