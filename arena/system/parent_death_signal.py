"""Runs a command that dies with the process that asked for it, whatever way that one dies.

    python -I -S parent_death_signal.py PARENT COMMAND [ARGUMENT ...]

A supervisor that is killed with SIGKILL can clean up nothing, so its children must notice by
themselves. On Linux the kernel sees to it and this program becomes the command; elsewhere it
stays beside the command and watches. A program of its own because the alternative, code run
between fork and exec, is unsafe in a process with threads.

On Linux "parent" means the thread that started the command: start from one that lives as long
as the process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType

_PR_SET_PDEATHSIG = 1
_GLANCE_SECONDS = 0.2


def leashed(command: Sequence[str]) -> list[str]:
    """The command line that runs `command` (whose first word is a path) on a leash of ours."""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def hold(parent: int) -> None:
    """Ends this process as soon as its parent, `parent`, is gone. For a process we forked."""
    if sys.platform == "linux":
        _die_with_parent(parent)
    else:
        threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _die_with_parent(parent: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # It may have died before the kernel was asked.
    if os.getppid() != parent:
        os._exit(1)


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_GLANCE_SECONDS)
    os._exit(1)


def watch(parent: int, command: Sequence[str]) -> int:
    """Runs `command` as a child until it ends or `parent` is gone. Returns its exit status."""
    # What was handed to us is for the command.
    child = subprocess.Popen(command, close_fds=False)

    def pass_on(number: int, _: FrameType | None) -> None:
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, pass_on)
    while child.poll() is None:
        if os.getppid() != parent:
            child.kill()
        time.sleep(_GLANCE_SECONDS)
    return child.returncode


def main(arguments: Sequence[str]) -> int:
    """The program: see the module's text."""
    parent, command = int(arguments[0]), list(arguments[1:])
    if sys.platform == "linux":
        _die_with_parent(parent)
        os.execv(command[0], command)
    return watch(parent, command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
