"""Allocates memory in many small processes."""

import os
import time

from honest import once, play


def bomb() -> None:
    for _ in range(64):
        if os.fork() == 0:
            held = bytearray(b"x") * (64 << 20)
            time.sleep(600)
            del held
    time.sleep(600)


play(once(bomb))
