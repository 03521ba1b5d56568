"""The registered workers and the published games, read from Redis for pages and commands."""

from __future__ import annotations

import threading
import time
from typing import Final

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine

from arena.services.queue import worker_games, worker_registrations, worker_sandboxes
from arena.services.queue.worker_games import Packages
from arena.services.queue.worker_registrations import WorkerInfo
from arena.store.bots import pushed_versions
from arena.system.redis_connection import connect_briefly

_KEPT_SECONDS: Final = 5.0
"""Workers change their registration every 5 s."""
_TIMEOUT_SECONDS: Final = 2.0


class WorkerList:
    """Reads the workers at most every 5 s.

    Args:
        redis: URL of the arena's Redis; empty: no workers are known.
    """

    def __init__(self, redis: str) -> None:
        self._redis = redis
        self._connection: Redis | None = None
        self._lock = threading.Lock()
        self._workers: tuple[WorkerInfo, ...] = ()
        self._packages: Packages = {}
        self._read_at = 0.0

    def read(self) -> tuple[WorkerInfo, ...]:
        """Return the registered workers; none if Redis does not answer."""
        return self._kept()[0]

    def _kept(self) -> tuple[tuple[WorkerInfo, ...], Packages]:
        if not self._redis:
            return (), {}
        with self._lock:
            if time.monotonic() >= self._read_at:
                self._workers, self._packages = self._read()
                self._read_at = time.monotonic() + _KEPT_SECONDS
            return self._workers, self._packages

    def _read(self) -> tuple[tuple[WorkerInfo, ...], Packages]:
        if self._connection is None:
            self._connection = connect_briefly(self._redis, _TIMEOUT_SECONDS)
        try:
            return (
                worker_registrations.workers(self._connection),
                worker_games.published_packages(self._connection),
            )
        except RedisError:
            return (), {}

    def problems(self) -> list[str]:
        """Return the problems with the sandboxes of the workers, one clause each."""
        return worker_sandboxes.sandbox_problems(self.read())

    def waiting_reason(
        self, engine: Engine, game: str, *, match: str = "", tournament: str = ""
    ) -> str:
        """Return why a match, or matches of a tournament, wait for another worker; empty if not.

        They wait for the package of their game, or for a better sandbox.

        Args:
            tournament: the tournament, instead of a match.
        """
        workers, packages = self._kept()
        if reason := worker_games.waiting_reason(game, packages, workers):
            return reason
        reason = worker_sandboxes.waiting_reason(workers)
        if not reason:
            return ""
        if match:
            return reason if pushed_versions.pushed_in(engine, match) else ""
        return reason if pushed_versions.wait_in(engine, tournament) else ""
