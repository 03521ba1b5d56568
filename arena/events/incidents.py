"""Failures inside the services: counted in Redis for `doctor` and the metrics, and restarts.

Redis loses these counts when it restarts; the log files keep every failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

from arena.system import redis_connection
from arena.system.backoff import Backoff

if TYPE_CHECKING:
    from redis import Redis


KEY: Final = "pokearena:incidents"
DISCARDED: Final = "discarded"
"""Field that counts malformed items of the queue."""
_FAILURES: Final = "failures:"
_ERROR: Final = "error:"
_LONGEST_ERROR: Final = 300
RECENT_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Incidents:
    """Failures since Redis started.

    Attributes:
        discarded: malformed items that were removed from the queue.
        failures: unexpected failures of each service.
        errors: the last failure of each service within the last hour, as a sentence.
    """

    discarded: int
    failures: dict[str, int]
    errors: dict[str, str]


def note_failure(connection: Redis, service: str, error: BaseException) -> None:
    """Count an unexpected failure of a service.

    Raises:
        RedisError: Redis does not answer.
    """
    text = f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
    with connection.pipeline() as pipeline:
        pipeline.hincrby(KEY, f"{_FAILURES}{service}", 1)
        pipeline.hset(KEY, f"{_ERROR}{service}", f"{time.time():.0f} {text}")
        pipeline.execute()


def note_discarded(connection: Redis, items: int) -> None:
    """Count malformed items that were removed from the queue.

    Raises:
        RedisError: Redis does not answer.
    """
    connection.hincrby(KEY, DISCARDED, items)


def read(connection: Redis) -> Incidents:
    """Return the failures counted so far.

    Raises:
        RedisError: Redis does not answer.
    """
    fields = {_text(name): _text(value) for name, value in connection.hgetall(KEY).items()}
    failures, errors = {}, {}
    for name, value in fields.items():
        if name.startswith(_FAILURES):
            failures[name.removeprefix(_FAILURES)] = _number(value)
        elif name.startswith(_ERROR):
            at, _, text = value.partition(" ")
            if time.time() - _number(at) < RECENT_SECONDS:
                errors[name.removeprefix(_ERROR)] = text
    return Incidents(_number(fields.get(DISCARDED, "0")), failures, errors)


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


# Background threads and tasks that run until they are stopped, restarted after every failure.
#
# An unexpected exception must not end a thread or task silently: it is logged with its traceback,
# counted in Redis for `doctor`, `serve` and the metrics, and the work starts again after a pause.

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
        work: the body of the thread.
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
        work: the body of the task.
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
            note_failure(connection, service, error)
