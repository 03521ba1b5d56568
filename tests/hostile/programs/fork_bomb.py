"""Forks without end at the first question."""

import contextlib
import os

from honest import once, play


def bomb() -> None:
    while True:
        with contextlib.suppress(OSError):
            os.fork()


play(once(bomb))
