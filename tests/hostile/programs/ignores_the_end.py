"""Plays honestly, and ignores signals to end, as its child process does."""

import os
import signal
import time

from honest import once, play


def act() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with_ignored = signal.SIG_IGN
        signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, with_ignored)
        time.sleep(600)


play(once(act))
