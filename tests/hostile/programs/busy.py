"""Computes for 20 ms on one core for every decision, as an ordinary search does."""

import time

from honest import play


def think(turn):
    until = time.monotonic() + 0.02
    while time.monotonic() < until:
        pass


play(think)
