"""Connect to a bot's socket without following links that the bot controls.

A bot owns the folder of its socket. It could place a link there to a socket of the machine that
only the arena may use.
"""

import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager

_CREDENTIALS = struct.Struct("3i")


class NotABotSocket(OSError):
    """The object at a bot's address is not a socket of that bot."""


@contextmanager
def opened(path: str) -> Iterator[tuple[str, int]]:
    """Open a socket file by its path without following a link in its last component.

    Args:
        path: the socket file. Its folder belongs to the bot, or all users share it.

    Yields:
        A path that refers to this socket during the block, and the uid of its owner.

    Raises:
        NotABotSocket: it is a link or another kind of file, or its owner is not the folder's.
        OSError: the file does not exist.
    """
    folder, name = os.path.split(path)
    parent = os.open(folder or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        file = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            above, status = os.fstat(parent), os.fstat(file)
            if not stat.S_ISSOCK(status.st_mode):
                raise NotABotSocket(f"{path} is not a socket")
            if status.st_uid != above.st_uid and not above.st_mode & stat.S_ISVTX:
                raise NotABotSocket(f"{path} belongs to another user than its folder")
            yield f"/proc/self/fd/{file}", status.st_uid
        finally:
            os.close(file)
    finally:
        os.close(parent)


def connected(path: str, timeout: float | None = None) -> socket.socket:
    """Return a socket connected to a socket file; see `opened`.

    Args:
        path: the socket file.
        timeout: seconds; None leaves the socket blocking, 0 makes it non-blocking.

    Raises:
        NotABotSocket: as for `opened`, or the server runs as another user.
        OSError: no process listens.
    """
    client = socket.socket(socket.AF_UNIX)
    try:
        client.settimeout(timeout)
        with opened(path) as (place, owner):
            client.connect(place)
        data = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        if _CREDENTIALS.unpack(data)[1] != owner:
            raise NotABotSocket(f"a process of another user listens at {path}")
    except BaseException:
        client.close()
        raise
    return client
