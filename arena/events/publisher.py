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

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from arena.events import restarts
from arena.events.messages import (
    POSITION_SECONDS,
    GameOver,
    MatchClosed,
    News,
    Position,
    channel_of,
    position_key,
    text_of,
)
from arena.system import timings

if TYPE_CHECKING:
    from redis import Redis

LONGEST: Final = 16 * 1024
"""Maximum number of characters of a position; a longer one contains only its last deal."""

_MOST_WAITING = 64
_RENEW_SECONDS = 10.0
_REDIS_SECONDS = 0.5
_SULK_SECONDS = 5.0
_LAST_SECONDS = 1.0
_GAMES_SECONDS = 0.25

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
        self._waiting: SimpleQueue[News | None] = SimpleQueue()
        self._games_at = 0.0
        self._sulking_until = 0.0
        self._timings_at = time.monotonic()
        self._warned = False
        self._key = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._keep_telling,), name="herald", daemon=True
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
        self._waiting.put(None)
        if self._url is not None:
            self._thread.join(_LAST_SECONDS)

    def tell(self, news: News) -> None:
        """Queue an event for publication; drop it if too many wait.

        Of `GameOver` events at most one per 0.25 s is published.
        """
        if self._url is None or self._waiting.qsize() >= _MOST_WAITING:
            return
        if isinstance(news, GameOver):
            if time.monotonic() < self._games_at + _GAMES_SECONDS:
                return
            self._games_at = time.monotonic()
        self._waiting.put(news)

    def _keep_telling(self) -> None:
        restarts.keep_running("events", self._run, str(self._url), self._stop)

    def _run(self) -> None:
        with contextlib.closing(_connect(str(self._url))) as client:
            while True:
                try:
                    news = self._waiting.get(timeout=_RENEW_SECONDS)
                except Empty:
                    self._renew(client)
                    continue
                if news is None or time.monotonic() > self._timings_at + _RENEW_SECONDS:
                    self._timings_at = time.monotonic()
                    self._try(lambda: timings.HERE.send(client))
                if news is None:
                    return
                self._send(client, news)

    def _send(self, client: Redis, news: News) -> None:
        with client.pipeline(transaction=False) as pipeline:
            text = publish(pipeline, news)
            if isinstance(news, Position):
                self._key = position_key(news.match)
                pipeline.set(self._key, text, ex=POSITION_SECONDS)
            elif isinstance(news, MatchClosed):
                self._key = ""
                pipeline.delete(position_key(news.match))
            self._try(pipeline.execute)

    def _renew(self, client: Redis) -> None:
        """Extend the expiry of the last position during a long decision."""
        if self._key:
            self._try(lambda: client.expire(self._key, POSITION_SECONDS))

    def _try(self, act: Callable[[], object]) -> None:
        if time.monotonic() < self._sulking_until:
            return
        try:
            act()
        except RedisError as error:
            self._sulking_until = time.monotonic() + _SULK_SECONDS
            if not self._warned:
                log.warning("news are not told, Redis is away: %s", error)
            self._warned = True


def publish(client: Redis, news: News) -> str:
    """Publish an event at once; return the message.

    Raises:
        RedisError: Redis does not answer.
    """
    text = _told(news)
    client.publish(channel_of(client), text)
    return text


def _connect(url: str) -> Redis:
    return redis.Redis.from_url(
        url,
        socket_timeout=_REDIS_SECONDS,
        socket_connect_timeout=_REDIS_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )


def _told(news: News) -> str:
    """Return the message, with only the last deal if it is too long."""
    text = text_of(news)
    if isinstance(news, Position) and len(text) > LONGEST:
        view = {
            game: {**seen, "deals": seen["deals"][-1:]} if "deals" in seen else seen
            for game, seen in news.view.items()
        }
        text = text_of(replace(news, view=view))
    return text
