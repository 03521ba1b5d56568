"""Starts daemons in sessions of their own, and exits."""

import os
import signal
import time

from honest import once, play


def daemon() -> None:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", "31.4159"])
    os._exit(0)


def act() -> None:
    for _ in range(8):
        if os.fork() == 0:
            daemon()
    time.sleep(0.2)
    os._exit(3)


play(once(act))
