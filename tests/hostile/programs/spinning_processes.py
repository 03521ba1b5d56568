"""Never answers, and keeps 64 processes busy meanwhile."""

import os
import time

from honest import once, play


def act() -> None:
    for _ in range(64):
        if os.fork() == 0:
            while True:
                pass
    time.sleep(600)


play(once(act))
