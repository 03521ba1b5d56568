"""Failures inside the services, counted in Redis for `doctor` and the metrics.

Redis loses these counts when it restarts; the log files keep every failure.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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
