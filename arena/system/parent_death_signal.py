"""Run a command that is killed when the calling process exits in any way.

    python -I -S parent_death_signal.py PARENT COMMAND [ARGUMENT ...]

A supervisor killed with SIGKILL cannot clean up, so its children must detect its exit. On Linux the
kernel sends a parent-death signal, and this program becomes the command. On other systems it stays
as the parent of the command and polls. It is a separate program because code between fork and exec
is unsafe in a process with threads.

On Linux "parent" means the thread that started the command: start it from a thread that lives as
long as the process.
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
_POLL_SECONDS = 0.2


def killed_with_parent(command: Sequence[str]) -> list[str]:
    """Return the command line that runs `command` and kills it when this process exits.

    The first word of `command` must be a path. On Windows the command is not changed: a process
    cannot detect the exit of its parent there.
    """
    if sys.platform == "win32":
        return list(command)
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def die_with_parent(parent: int) -> None:
    """Kill this process when its parent exits; for processes created by fork."""
    if sys.platform == "linux":
        _set_parent_death_signal(parent)
    else:
        threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _set_parent_death_signal(parent: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # The parent may have exited before the signal was set.
    if os.getppid() != parent:
        os._exit(1)


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os._exit(1)


def watch(parent: int, command: Sequence[str]) -> int:
    """Run `command` as a child until it exits or `parent` is gone; return its exit status."""
    # Descriptors inherited by this process are meant for the command.
    child = subprocess.Popen(command, close_fds=False)

    def pass_on(number: int, _: FrameType | None) -> None:
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, pass_on)
    while child.poll() is None:
        if os.getppid() != parent:
            child.kill()
        time.sleep(_POLL_SECONDS)
    return child.returncode


def main(arguments: Sequence[str]) -> int:
    """Run the program described in the module's docstring."""
    parent, command = int(arguments[0]), list(arguments[1:])
    try:
        if sys.platform == "linux":
            _set_parent_death_signal(parent)
            os.execv(command[0], command)
        return watch(parent, command)
    except OSError as error:
        print(f"{command[0]} could not be started: {error.strerror}", file=sys.stderr)
        return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
