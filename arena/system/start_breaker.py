"""Breaker of a worker whose machine cannot start matches."""

from __future__ import annotations

import mmap
from typing import Final

FAILURES_TO_OPEN: Final = 3
"""Consecutive failures of the arena, without a committed game between them, that open a breaker."""
_MOST: Final = 255


class StartBreaker:
    """Counts consecutive failed attempts of a worker, in memory shared with its match processes.

    While the breaker is open, the worker takes one match after each pause and self-test of the
    sandbox, and a failure is not counted against the match. A committed game closes the breaker.
    """

    def __init__(self) -> None:
        self._failures = mmap.mmap(-1, 1)

    @property
    def is_open(self) -> bool:
        """Whether the last attempts of the worker failed."""
        return self._failures[0] >= FAILURES_TO_OPEN

    def note_failure(self) -> None:
        """Count an attempt that the arena failed to play."""
        self._failures[0] = min(self._failures[0] + 1, _MOST)

    def note_success(self) -> None:
        """Close the breaker, because a game was committed."""
        self._failures[0] = 0
