"""Open files below a folder whose content a bot controls; links never lead out of the folder.

The kernel resolves the path, so links and folders that are replaced meanwhile do not matter: a
check by the text of a path and a later `open` would see different files.

The sandbox launcher imports this module, so it imports only modules that load quickly.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_OPENAT2: Final = 437
"""Number of the system call openat2(2), the same on every machine."""
_NO_MAGICLINKS: Final = 0x02
_BELOW: Final = _NO_MAGICLINKS | 0x08
"""RESOLVE_BENEATH, which does not include links of /proc."""
_AT_FDCWD: Final = -100
_ATTEMPTS: Final = 64
"""Attempts while renames elsewhere make the kernel unsure about "..", then the error is EAGAIN."""
_NOT_OFFERED: Final = frozenset({errno.ENOSYS, errno.EPERM})
"""Errors of a kernel without the call, and of a container whose filter does not know it."""

_PATH: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_CLOEXEC", 0)
"""Flags to open a path only as a place."""
_CLOSED: Final = getattr(os, "O_CLOEXEC", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_UNBLOCKED: Final = getattr(os, "O_NONBLOCK", 0)
_HANDLE: Final = _PATH | getattr(os, "O_DIRECTORY", 0)
"""Flags to open a folder that is only the start of a path."""
_REASONS: Final = {
    errno.EXDEV: "it leads out of its folder",
    errno.ELOOP: "it is or passes a link that is not followed",
    errno.EFBIG: "it is larger than allowed",
}

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def open_beneath(folder: str | os.PathLike[str], path: str, flags: int = os.O_RDONLY) -> int:
    """Open an existing file or folder below `folder`, as the kernel resolves its path.

    Relative links that stay below `folder` are followed, unless `flags` contains ``O_NOFOLLOW``.
    Absolute links, links and ".." that lead out of `folder`, and magic links of ``/proc`` are
    refused. Where the kernel does not offer openat2(2), every link and every ".." is refused.

    Args:
        folder: the folder; its own path is trusted, and links in it are followed.
        path: the path below it; "." is the folder itself.
        flags: flags of open(2) without ``O_CREAT`` and ``O_TMPFILE``; ``O_CLOEXEC`` is added.

    Returns:
        A descriptor, which is not inherited by other programs.

    Raises:
        OSError: with ``EXDEV`` the path leads out of the folder, with ``ELOOP`` it leads over a
            link that is refused; with ``EAGAIN`` other processes renamed files all the time.
    """
    if "\0" in path or flags & os.O_CREAT:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    if sys.platform == "win32":
        # It cannot open folders. Only trusted bots run there, without a sandbox.
        return os.open(os.path.join(folder, path), flags | getattr(os, "O_BINARY", 0))
    root = os.open(folder, _HANDLE)
    try:
        for _ in range(_ATTEMPTS):
            descriptor, number = _openat2(root, path, flags | _CLOSED, _BELOW)
            if descriptor >= 0:
                return descriptor
            if number in _NOT_OFFERED:
                return _open_without_links(root, path, flags | _CLOSED)
            if number not in (errno.EAGAIN, errno.EINTR):
                break
        raise _error(number, path)
    finally:
        os.close(root)


def open_file_beneath(folder: str | os.PathLike[str], path: str, *, links: bool = False) -> int:
    """Open a regular file below `folder` for reading; never block on a pipe or a device.

    Args:
        folder: the folder.
        path: the path below it.
        links: whether to follow links that stay below `folder`, else a link as the last part of
            the path is refused.

    Raises:
        OSError: as for `open_beneath`; with ``EINVAL`` it is not a regular file.
    """
    flags = os.O_RDONLY | _UNBLOCKED | (0 if links else _NO_LINK)
    descriptor = open_beneath(folder, path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a regular file", path)


def read_beneath(
    folder: str | os.PathLike[str], path: str, limit: int, *, links: bool = False
) -> bytes:
    """Return the content of a regular file below `folder`.

    Args:
        folder: the folder.
        path: the path below it.
        limit: the maximum size in bytes.
        links: as for `open_file_beneath`.

    Raises:
        OSError: as for `open_file_beneath`; with ``EFBIG`` the file is larger than `limit`.
    """
    with os.fdopen(open_file_beneath(folder, path, links=links), "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise _error(errno.EFBIG, path)
    return content


def open_path(path: str) -> int:
    """Return a descriptor of the place of a path, without following magic links of ``/proc``.

    Raises:
        OSError: with ``ELOOP`` the path leads over a magic link.
    """
    descriptor, number = _openat2(_AT_FDCWD, path, _PATH, _NO_MAGICLINKS)
    if descriptor < 0 and number in _NOT_OFFERED:
        return os.open(path, _PATH)
    if descriptor < 0:
        raise _error(number, path)
    return descriptor


def real_path(path: str) -> str | None:
    """Return a path without links; None if it is missing or leads over a link of ``/proc``."""
    try:
        descriptor = open_path(path)
    except OSError:
        return None
    try:
        link = f"/proc/self/fd/{descriptor}"
        return os.readlink(link) if os.path.islink(link) else os.path.realpath(path)
    finally:
        os.close(descriptor)


def _openat2(root: int, path: str, flags: int, resolve: int) -> tuple[int, int]:
    """Return a descriptor and 0, or -1 and the number of the error."""
    if _libc is None:
        return -1, errno.ENOSYS
    how = struct.pack("=QQQ", flags, 0, resolve)
    descriptor = _libc.syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(root),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.c_char_p(how),
        ctypes.c_size_t(len(how)),
    )
    return (descriptor, 0) if descriptor >= 0 else (-1, ctypes.get_errno())


def _open_without_links(root: int, path: str, flags: int) -> int:
    """Open each part of the path in the folder before it, without following any link."""
    if not path:
        raise _error(errno.ENOENT, path)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts:
        raise _error(errno.EXDEV, path)
    if path.endswith("/"):
        flags |= os.O_DIRECTORY
    descriptor = os.open(".", _HANDLE, dir_fd=root)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _HANDLE | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        target = os.open(parts[-1] if parts else ".", flags | os.O_NOFOLLOW, dir_fd=descriptor)
    finally:
        os.close(descriptor)
    # With O_PATH, O_NOFOLLOW does not refuse a link but opens the link itself.
    if not flags & os.O_NOFOLLOW and stat.S_ISLNK(os.fstat(target).st_mode):
        os.close(target)
        raise _error(errno.ELOOP, path)
    return target


def _error(number: int, path: str) -> OSError:
    return OSError(number, _REASONS.get(number) or os.strerror(number), path)
