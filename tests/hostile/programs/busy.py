"""Thinks for 0.3 s on one core about every decision, as an ordinary search does."""

import time

from honest import play


def think(turn):
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        pass


play(think)
