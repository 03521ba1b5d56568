"""Whether the referee itself stood still: a bot must not be charged for that."""

import asyncio
import time
from typing import Final, NoReturn

BEAT_SECONDS: Final = 0.5
STILL_SECONDS: Final = 2.0
"""A gap so much longer than a beat means that bots' times are not known any more."""


class StoodStill(Exception):
    """The process was stopped, or the machine was too busy to let it run. Not a bot's fault."""


class StallDetector:
    """Beats while a table is played; a beat that comes far too late tells of a standstill.

    Whoever has taken a bot's time asks `check` before it counts: after a standstill the beat and
    the bot's alarm are late together, and either may come first.
    """

    def __init__(self) -> None:
        self._last = time.monotonic()

    def check(self) -> None:
        """Raises StoodStill if the last beat is too long ago."""
        gap = time.monotonic() - self._last
        if gap > BEAT_SECONDS + STILL_SECONDS:
            raise StoodStill(f"the referee stood still for {gap:.1f} s")

    async def beat(self) -> NoReturn:
        """Beats until it is cancelled; raises StoodStill."""
        self._last = time.monotonic()
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self.check()
            self._last = time.monotonic()
