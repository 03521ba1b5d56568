"""Sends SIGKILL to every process that it can, its parents included."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

from honest import attempt, once, play

targets = json.loads(Path("targets.json").read_text())


def signals_get_out() -> bool:
    """Return whether signals reach the test. The program then kills no process."""
    try:
        os.kill(targets["tester"], 0)
    except OSError:
        return False
    return True


def act() -> None:
    if signals_get_out():
        print('{"way": "signals", "got": "out"}')
        return
    attempt(parent=lambda: os.kill(os.getppid(), signal.SIGSTOP))
    tasks = {int(task) for task in os.listdir("/proc/self/task")}
    for pid in range(2, 70_000):
        if pid not in tasks:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)
    time.sleep(0.2)


play(once(act))
