"""Keeps 64 processes busy, and plays on."""

import os

from honest import once, play


def act() -> None:
    for _ in range(64):
        if os.fork() == 0:
            while True:
                pass


play(once(act))
