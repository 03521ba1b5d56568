"""Resolve paths of a folder that a bot wrote, by the kernel's rules (openat2(2))."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

OPENAT2 = 437
"""System call number, the same on every machine."""
AT_FDCWD = -100
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_BENEATH = 0x08
ATTEMPTS = 8
"""Tries of a lookup that a concurrent rename disturbs."""

_libc = ctypes.CDLL(None, use_errno=True)


def open_beneath(folder: str | os.PathLike[str], path: str, flags: int = os.O_RDONLY) -> int:
    """Open a path that must not lead out of a folder; return a descriptor.

    Raises:
        OSError: EXDEV if it leads out, ELOOP if it follows a link of /proc, or any other error of
            open(2).
    """
    above = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _openat2(above, path, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)
    finally:
        os.close(above)


def open_path(path: str) -> int:
    """Open a path without following the links of /proc; return a descriptor of its place.

    Raises:
        OSError: ELOOP if a link of /proc is met, or any other error of open(2).
    """
    return _openat2(AT_FDCWD, path, os.O_PATH, RESOLVE_NO_MAGICLINKS)


def real_path(path: str) -> str | None:
    """Return the path of a file without links; None if it is missing or a link of /proc is met."""
    try:
        file = open_path(path)
    except OSError:
        return None
    try:
        return os.readlink(f"/proc/self/fd/{file}")
    finally:
        os.close(file)


def _openat2(above: int, path: str, flags: int, resolve: int) -> int:
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, resolve)
    size = ctypes.c_size_t(len(how))
    for _ in range(ATTEMPTS):
        result = int(_libc.syscall(OPENAT2, above, os.fsencode(path), how, size))
        if result >= 0:
            return result
        number = ctypes.get_errno()
        if number != errno.EAGAIN:
            break
    raise OSError(number, os.strerror(number), path)
