"""A referee of one's own, for a match here and now."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from arena import config
from arena.errors import InfrastructureError
from arena.system import parent_death_signal

_DRAIN_SECONDS = 3.0


@contextmanager
def own_referee() -> Iterator[str]:
    """A referee process on a private socket for as long as the block lasts; gives its address.

    Raises InfrastructureError if it does not start.
    """
    sockets = config.private_directory()
    address = f"unix:{sockets / 'referee.sock'}"
    try:
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                # -P: what lies in the directory we were started in is not to be imported.
                parent_death_signal.leashed(
                    [sys.executable, "-P", "-m", "referee", "--address", address]
                ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                # Ctrl-C in a terminal is for the one who started it.
                start_new_session=True,
            )
            try:
                _await(process, log)
                yield address
            finally:
                _end(process)
    finally:
        config.remove_private_directory(sockets)


def _await(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    assert process.stdout is not None
    if process.stdout.readline():
        return
    log.seek(0)
    words = log.read().decode(errors="replace").strip().splitlines()
    raise InfrastructureError(
        f"The referee did not start; its last words: {words[-1] if words else 'none'}"
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
