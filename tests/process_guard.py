"""End the processes that a test run leaves behind, however it ends, and name them.

    python -I -S process_guard.py RUN PID

waits until the process PID has ended and kills all processes of the run. They are found by the
variable MARK of their environment, which they inherit, whichever session or parent they have.
"""

import contextlib
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

MARK = "TEST_RUN_OF_POKEARENA"
"""Not a setting of the arena (POKEARENA_...): tests start services without those."""


def start(run: str) -> None:
    """Mark what this process starts from now on, and start a guard that outlives this process."""
    command = [sys.executable, "-I", "-S", __file__, run, str(os.getpid())]
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=silent, setsid=True)
    os.environ[MARK] = run


def marked(run: str) -> Iterator[tuple[int, str]]:
    mark = f"{MARK}={run}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                yield int(folder.name), words.decode(errors="replace").strip()
        except OSError:
            continue  # It has ended, or belongs to somebody else.


def main(run: str, pid: int) -> None:
    """Wait for the end of a process, then kill the processes of its run and their children."""
    with contextlib.suppress(ProcessLookupError):
        select.select([os.pidfd_open(pid)], [], [])
    while processes := list(marked(run)):
        for process, _ in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
