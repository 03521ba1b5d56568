"""User ids of their own for bots, as long as they live.

Only root can give them away. An id is taken by binding an abstract socket of its name, and by a
lock in a file of the machine, for such names are those of one network: the kernel lets one process
at a time do so, and gives both back when that process is gone, however it went. So no two live bots
of a machine have one id, whichever workers they belong to, and whatever networks these are in.
"""

from __future__ import annotations

import _socket
import contextlib
import errno
import fcntl
import os
import signal

FIRST = 58_000
"""Above the users of a system, below what is reserved for services that are made as they start."""
COUNT = 1_000
LOCKS = "/run/pokearena-uids"
"""One byte of it is locked for each id. Only root can write there."""


class Uid:
    """A user and group id that nobody else has; ``number`` is None where we are not root."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.name: _socket.socket | None = None
        self.locks: int | None = None
        if os.geteuid() == 0:
            self.take()

    def take(self) -> None:
        """Takes an id that is free.

        Raises:
            OSError: none is.
        """
        # Where nothing can be written, as in some containers, the names have to do.
        with contextlib.suppress(OSError):
            self.locks = os.open(LOCKS, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        start = int.from_bytes(os.urandom(4), "big")
        for step in range(COUNT):
            number = FIRST + (start + step) % COUNT
            name = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            try:
                name.bind(f"\0pokearena-uid-{number}")
                if self.locks is not None:
                    fcntl.lockf(self.locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number - FIRST)
            except OSError:
                name.close()
                continue
            self.name = name
            self.number = number
            self.purge()
            return
        self.release()
        raise OSError(errno.EAGAIN, f"all {COUNT} user ids of bots are in use")

    def release(self) -> None:
        if self.name is not None:
            self.name.close()
            self.name = None
        if self.locks is not None:
            os.close(self.locks)
            self.locks = None

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
