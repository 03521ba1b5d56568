"""Reserve a user id of its own for each running bot.

Only root can assign user ids. An id is reserved by locking a byte in a file of the machine, which
only root can open. The kernel releases the lock when the process ends in any way. Therefore no two
running bots of a machine or container have the same id, whatever their workers and networks.
"""

from __future__ import annotations

import fcntl
import os
import signal

FIRST_USER_ID = 58_000
"""Above the users of a system, below the range of dynamically created service users."""
USER_ID_COUNT = 1_000
ALL_IN_USE = "Too many bots are running on this machine at the moment."
"""A sentence that public pages may show."""
USER_ID_LOCKS = "/run/pokearena-uids"
"""Lock file with one byte per id. Only root can write to it."""


class UserId:
    """A reserved user and group id; only a process of root has a ``number``."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.lock_file: int | None = None
        if os.geteuid() == 0:
            self.reserve()

    def reserve(self) -> None:
        """Reserve a free id.

        Raises:
            OSError: all ids are in use, or the lock file cannot be created.
        """
        try:
            self.lock_file = os.open(USER_ID_LOCKS, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise OSError(
                error.errno,
                f"user ids of bots cannot be reserved in {USER_ID_LOCKS} ({error.strerror}); "
                "mount a writable folder at /run that all arenas of this machine share",
            ) from None
        start = int.from_bytes(os.urandom(4), "big")
        for step in range(USER_ID_COUNT):
            offset = (start + step) % USER_ID_COUNT
            try:
                fcntl.lockf(self.lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
            except OSError:
                continue
            self.number = FIRST_USER_ID + offset
            self.kill_processes()
            return
        self.release()
        raise OSError(ALL_IN_USE)

    def release(self) -> None:
        if self.lock_file is not None:
            os.close(self.lock_file)
            self.lock_file = None

    def kill_processes(self) -> None:
        """Kill all processes with this id."""
        if self.number is None:
            return
        pid = os.fork()
        if pid == 0:
            try:
                become(self.number)
                # One call reaches all of them, so they cannot fork meanwhile.
                os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def become(number: int) -> None:
    """Change this process permanently to that user and group."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
