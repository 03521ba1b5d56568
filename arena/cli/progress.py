"""How far something is that takes its time, on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from arena.cli import output

_PAUSE_SECONDS: Final = 2.0
_SIGN_OF_LIFE_SECONDS: Final = 15.0


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


@contextmanager
def taking_its_time(what: str) -> Iterator[None]:
    """Says what is under way and how long it took, nothing if it is quick."""
    began, over = time.monotonic(), Event()

    def tell() -> None:
        if over.wait(_PAUSE_SECONDS):
            return
        output.hint(what)
        while not over.wait(_SIGN_OF_LIFE_SECONDS):
            output.hint(f"still at it after {time.monotonic() - began:.0f} s")
        output.hint(f"that took {time.monotonic() - began:.0f} s")

    teller = Thread(target=tell, name="progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
