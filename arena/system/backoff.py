"""Pauses between attempts at work that keeps failing."""

from __future__ import annotations

import math


class Backoff:
    """Pauses that double with each failure.

    Args:
        first: the first pause, in seconds.
        longest: the longest pause, in seconds.
        steady: after an attempt that lasted at least this time, in seconds, the next pause is the
            first one again.
    """

    def __init__(self, first: float, longest: float, steady: float = math.inf) -> None:
        self._first = first
        self._longest = longest
        self._steady = steady
        self._next = first

    def after(self, ran: float = 0.0) -> float:
        """Return the pause, in seconds, after a failed attempt that lasted `ran` seconds."""
        if ran >= self._steady:
            self.reset()
        pause = self._next
        self._next = min(2 * pause, self._longest)
        return pause

    def reset(self) -> None:
        """Begin with the first pause again, because an attempt succeeded."""
        self._next = self._first
