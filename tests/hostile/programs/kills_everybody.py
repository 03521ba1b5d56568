"""Sends SIGKILL to every process it may send one to, its parents among them."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

from honest import attempt, once, play

targets = json.loads(Path("targets.json").read_text())


def signals_get_out() -> bool:
    """Whether whoever runs this test could be killed: then nobody is, for the machine's sake."""
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
    own = {int(task) for task in os.listdir("/proc/self/task")}
    for pid in range(2, 70_000):
        if pid not in own:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)
    time.sleep(0.2)


play(once(act))
