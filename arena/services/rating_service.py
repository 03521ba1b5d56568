"""Rate ladders in the background, as soon as matches close (`arena.ladders.rater`)."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from arena.errors import StoreError
from arena.events import restarts
from arena.ladders import rater

if TYPE_CHECKING:
    from sqlalchemy import Engine

SERVICE: Final = "rater"
"""Name under which failures are counted."""
PAUSE_SECONDS: Final = 0.5
"""Pause between two looks for new results."""
_RETRY_SECONDS: Final = 5.0

log = logging.getLogger("arena.rater")


class RatingService:
    """Rates between `start` and `stop`. Several processes may do this for one store.

    Args:
        engine: the store.
        redis: the address of the Redis that counts failures; empty for none.
    """

    def __init__(self, engine: Engine, redis: str = "") -> None:
        self._engine = engine
        self._redis = redis
        self._rated: tuple[int, int] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=SERVICE, daemon=True)

    def start(self) -> None:
        """Start to rate."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current fit."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def rate(self) -> None:
        """Rate what has changed; cheap if nothing has since the last call."""
        mark = rater.change_mark(self._engine)
        if mark != self._rated:
            self._rated = mark if rater.advance(self._engine) else None

    def _run(self) -> None:
        restarts.keep_running(SERVICE, self._work, self._redis, self._stop)

    def _work(self) -> None:
        while not self._stop.is_set():
            pause = PAUSE_SECONDS
            try:
                self.rate()
            except (SQLAlchemyError, StoreError) as error:
                log.warning(
                    "ladders cannot be rated, next try in %.0f s: %s", _RETRY_SECONDS, error
                )
                restarts.count(SERVICE, error, self._redis)
                pause = _RETRY_SECONDS
            self._stop.wait(pause)
