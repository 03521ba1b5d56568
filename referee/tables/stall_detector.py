"""Stall detector: detect that the referee itself did not run.

A bot must not be charged for such a pause.
"""

import asyncio
import time
from typing import Final, NoReturn

BEAT_SECONDS: Final = 0.5
STILL_SECONDS: Final = 2.0
"""A delay of a beat beyond this, in seconds, makes measured answer times unreliable."""


class ProcessStalled(Exception):
    """The process was stopped, or the machine was overloaded. This is not a bot's fault."""


class StallDetector:
    """Measures the delay between periodic beats while a table is played; a late beat is a stall.

    Call `check` after every measurement of a bot's time and before using it. After a stall, the
    beat and the bot's deadline are late together, and either may run first.
    """

    def __init__(self) -> None:
        self._last = time.monotonic()

    def check(self) -> None:
        """Check the time since the last beat.

        Raises:
            ProcessStalled: it exceeds ``BEAT_SECONDS + STILL_SECONDS``.
        """
        gap = time.monotonic() - self._last
        if gap > BEAT_SECONDS + STILL_SECONDS:
            raise ProcessStalled(f"the referee process stalled for {gap:.1f} s")

    async def beat(self) -> NoReturn:
        """Beat every ``BEAT_SECONDS`` until cancelled.

        Raises:
            ProcessStalled: a beat was more than ``STILL_SECONDS`` late.
        """
        self._last = time.monotonic()
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self.check()
            self._last = time.monotonic()
