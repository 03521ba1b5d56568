"""Rate ladders in the background, as soon as matches close (`arena.ladders.rater`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arena.ladders import rater
from arena.store.events.background_service import BackgroundService

if TYPE_CHECKING:
    from sqlalchemy import Engine

PAUSE_SECONDS: Final = 0.5
"""Pause between two looks for new results."""
_RETRY_SECONDS: Final = 5.0


class RatingService(BackgroundService):
    """Rates ladders.

    Args:
        redis: the address of the Redis that counts failures; empty for none.
    """

    def __init__(self, engine: Engine, redis: str = "") -> None:
        super().__init__("rater", redis, PAUSE_SECONDS, _RETRY_SECONDS)
        self._engine = engine
        self._rated: tuple[int, int] | None = None

    def run_round(self) -> None:
        """Rate what has changed; cheap if nothing has since the last call."""
        mark = rater.change_mark(self._engine)
        if mark != self._rated:
            self._rated = mark if rater.advance(self._engine) else None
