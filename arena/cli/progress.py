"""How far something is that takes its time, on standard error."""

from __future__ import annotations

import time
from typing import Final

from arena.cli import output

_PAUSE_SECONDS: Final = 2.0


class Progress:
    """Says how many of how many are done, at most every two seconds: nothing if it is quick.

    what: what is counted, in words that stand behind the numbers.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._said = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        """So many are done."""
        if time.monotonic() - self._said >= _PAUSE_SECONDS:
            output.hint(f"{done} of {of} {self._what}")
            self._said = time.monotonic()
