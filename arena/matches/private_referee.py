"""Run a referee as a private process, for a local match."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from arena import config
from arena.errors import InfrastructureError
from arena.system import parent_death_signal, temporary_folder

_DRAIN_SECONDS = 3.0


@contextmanager
def own_referee(trace: Path | None = None) -> Iterator[str]:
    """Run a referee for the duration of the context; yield its address.

    It listens at a private socket on Linux, and at a port of 127.0.0.1 on other systems.

    Args:
        trace: file to which it appends the messages from and to bots, if any.

    Raises:
        InfrastructureError: it does not start.
    """
    sockets = config.private_directory()
    address = f"unix:{sockets / 'referee.sock'}"
    if sys.platform != "linux":
        # Any program on the machine can connect to the port (docs/how-to/install.md).
        address = "127.0.0.1:0"
    traced = [] if trace is None else ["--trace", str(trace)]
    try:
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                # -P: do not import modules from the current directory.
                parent_death_signal.killed_with_parent(
                    [sys.executable, "-P", "-m", "referee", "--address", address, *traced]
                ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                # Ctrl-C in a terminal must reach only the parent process.
                start_new_session=True,
            )
            try:
                line = _await(process, log)
                found = re.search(r"127\.0\.0\.1:\d+", line)
                yield found[0] if found else address
            finally:
                _end(process)
    finally:
        temporary_folder.remove(sockets)


def _await(process: subprocess.Popen[bytes], log: IO[bytes]) -> str:
    """Wait until the referee listens; return the line with its address."""
    assert process.stdout is not None
    if line := process.stdout.readline():
        return line.decode()
    log.seek(0)
    words = log.read().decode(errors="replace").strip().splitlines()
    raise InfrastructureError(
        f"the referee did not start.\nits last words: {words[-1] if words else 'none'}"
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_DRAIN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdout is not None
    process.stdout.close()
