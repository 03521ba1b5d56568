"""Forks as often as it can, for ever, when it is asked for the first time."""

import contextlib
import os

from honest import once, play


def bomb() -> None:
    while True:
        with contextlib.suppress(OSError):
            os.fork()


play(once(bomb))
