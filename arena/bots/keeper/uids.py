"""User ids of their own for bots, as long as they live.

Only root can give them away. An id is taken by binding an abstract socket of its name: the kernel
lets one process at a time do so, and gives the name back when that process is gone, however it
went. So no two live bots of a machine have one id, whichever workers they belong to.
"""

from __future__ import annotations

import _socket
import errno
import os
import signal

FIRST = 58_000
"""Above the users of a system, below what is reserved for services that are made as they start."""
COUNT = 1_000


class Uid:
    """A user and group id that nobody else has; ``number`` is None where we are not root."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.lock: _socket.socket | None = None
        if os.geteuid() == 0:
            self.take()

    def take(self) -> None:
        """Takes an id that is free.

        Raises:
            OSError: none is.
        """
        start = int.from_bytes(os.urandom(4), "big")
        for step in range(COUNT):
            number = FIRST + (start + step) % COUNT
            lock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            try:
                lock.bind(f"\0pokearena-uid-{number}")
            except OSError:
                lock.close()
                continue
            self.lock = lock
            self.number = number
            self.purge()
            return
        raise OSError(errno.EAGAIN, f"all {COUNT} user ids of bots are in use")

    def release(self) -> None:
        if self.lock is not None:
            self.lock.close()
            self.lock = None

    def purge(self) -> None:
        """Kills whatever runs under this id."""
        if self.number is None:
            return
        pid = os.fork()
        if pid == 0:
            try:
                become(self.number)
                # All at once: who is being killed cannot fork any more.
                os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def become(number: int) -> None:
    """Makes this process one of that user and group, for good."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
