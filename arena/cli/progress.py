"""How far something is that takes its time, on standard error."""

from __future__ import annotations

import time
from typing import Final

from arena.cli import output

_PAUSE_SECONDS: Final = 2.0


class Progress:
    """Says how many of how many are done, at most every two seconds: nothing if it is quick."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, what: str, done: int, of: int) -> None:
        """So many are done; `what` stands behind the numbers."""
        if time.monotonic() - self._said >= _PAUSE_SECONDS:
            output.hint(f"{done} of {of} {what}")
            self._said = time.monotonic()

    def now(self, what: str) -> None:
        """This is done at the moment."""
        if time.monotonic() - self._said >= _PAUSE_SECONDS:
            output.hint(what)
            self._said = time.monotonic()
