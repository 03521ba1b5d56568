"""Publish the events and timings of a match over Redis without blocking the match."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from redis.exceptions import RedisError

from arena.store.events import restarts
from arena.store.events.messages import (
    POSITION_SECONDS,
    Event,
    GameOver,
    MatchClosed,
    Position,
    channel_of,
    position_key,
    text_of,
)
from arena.system import timings
from arena.system.redis_connection import connect_briefly

if TYPE_CHECKING:
    from redis import Redis

MAX_POSITION_CHARACTERS: Final = 16 * 1024
"""Maximum number of characters of a position; a longer one contains only its last deal."""

_LONGEST_QUEUE = 64
_RENEW_SECONDS = 10.0
_REDIS_SECONDS = 0.5
_SILENT_SECONDS = 5.0
_FLUSH_SECONDS = 1.0
_GAME_SECONDS = 0.25

log = logging.getLogger("arena.worker")


class EventPublisher:
    """Publishes events in its own thread and connection between `__enter__` and `__exit__`.

    If Redis does not answer within 0.5 s, the event is lost, and so are all events of the next 5 s.
    `__exit__` waits at most 1 s for the remaining events.

    Args:
        url: URL of the Redis; None publishes nothing.
    """

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._queue: SimpleQueue[Event | None] = SimpleQueue()
        self._game_at = 0.0
        self._silent_until = 0.0
        self._timings_at = time.monotonic()
        self._is_warned = False
        self._key = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._keep_running,), name="events", daemon=True
        )

    def __enter__(self) -> Self:
        if self._url is not None:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._queue.put(None)
        if self._url is not None:
            self._thread.join(_FLUSH_SECONDS)

    def publish(self, event: Event) -> None:
        """Queue an event for publication without waiting; drop it if too many wait.

        Of `GameOver` events at most one per 0.25 s is published.
        """
        if self._url is None or self._queue.qsize() >= _LONGEST_QUEUE:
            return
        if isinstance(event, GameOver):
            if time.monotonic() < self._game_at + _GAME_SECONDS:
                return
            self._game_at = time.monotonic()
        self._queue.put(event)

    def _keep_running(self) -> None:
        restarts.keep_running("events", self._run, str(self._url), self._stop)

    def _run(self) -> None:
        with contextlib.closing(connect_briefly(str(self._url), _REDIS_SECONDS)) as client:
            while True:
                try:
                    event = self._queue.get(timeout=_RENEW_SECONDS)
                except Empty:
                    self._renew(client)
                    continue
                if event is None or time.monotonic() > self._timings_at + _RENEW_SECONDS:
                    self._timings_at = time.monotonic()
                    self._try(lambda: timings.HERE.send(client))
                if event is None:
                    return
                self._send(client, event)

    def _send(self, client: Redis, event: Event) -> None:
        with client.pipeline(transaction=False) as pipeline:
            text = send(pipeline, event)
            if isinstance(event, Position):
                self._key = position_key(event.match)
                pipeline.set(self._key, text, ex=POSITION_SECONDS)
            elif isinstance(event, MatchClosed):
                self._key = ""
                pipeline.delete(position_key(event.match))
            self._try(pipeline.execute)

    def _renew(self, client: Redis) -> None:
        """Extend the expiry of the last position during a long decision."""
        if self._key:
            self._try(lambda: client.expire(self._key, POSITION_SECONDS))

    def _try(self, action: Callable[[], object]) -> None:
        if time.monotonic() < self._silent_until:
            return
        try:
            action()
        except RedisError as error:
            self._silent_until = time.monotonic() + _SILENT_SECONDS
            if not self._is_warned:
                log.warning("events are lost: Redis is not available: %s", error)
            self._is_warned = True


def send(client: Redis, event: Event) -> str:
    """Publish an event at once; return the message.

    Raises:
        RedisError: Redis does not answer.
    """
    text = _message(event)
    client.publish(channel_of(client), text)
    return text


def _message(event: Event) -> str:
    """Return the message, with only the last deal if it is too long."""
    text = text_of(event)
    if isinstance(event, Position) and len(text) > MAX_POSITION_CHARACTERS:
        view = {
            game: {**part, "deals": part["deals"][-1:]} if "deals" in part else part
            for game, part in event.view.items()
        }
        text = text_of(replace(event, view=view))
    return text
