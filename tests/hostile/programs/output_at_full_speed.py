"""Prints at full speed without end."""

import os

from honest import once, play


def act() -> None:
    while True:
        os.write(1, b"x" * (1 << 16))


play(once(act))
