"""How much each may ask for: buckets of tokens, filled again at a steady rate."""

from __future__ import annotations

import math
from collections import OrderedDict

_MOST = 20_000


class Buckets:
    """A bucket for each who asks; those that have not been asked from longest are forgotten.

    rate: tokens a second; 0: no bound. burst: how many are in a full one.
    """

    def __init__(self, rate: float, burst: float, most: int = _MOST) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str, now: float) -> int:
        """Takes a token; 0, or in how many seconds there will be one.

        now: in seconds, on a clock that only goes forward.
        """
        if not self._rate:
            return 0
        wait, left = self._look(who, now)
        self._left.pop(who, None)
        self._left[who] = (left if wait else left - 1, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return wait

    def wait(self, who: str, now: float) -> int:
        """Return the seconds until `take` gives a token; 0 for at once."""
        return self._look(who, now)[0] if self._rate else 0

    def _look(self, who: str, now: float) -> tuple[int, float]:
        left, since = self._left.get(who, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        return (0 if left >= 1 else math.ceil((1 - left) / self._rate)), left
