"""Files and folders that only the arena's own user may access, whatever the umask is.

The commands of a user keep the user's umask for the files that they write elsewhere. Files of the
data folder are therefore created with an explicit mode.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import Final

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
UMASK: Final = 0o077
"""The umask of services: all that they write is private, files of libraries too."""

_OTHERS: Final = 0o077
_HAS_HANDLES: Final = hasattr(os, "O_PATH")
if sys.platform == "win32":
    _HANDLE: Final = os.O_RDONLY
else:
    _HANDLE: Final = (
        getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_NOFOLLOW | os.O_CLOEXEC
    )


def opener(path: str, flags: int) -> int:
    """Open a file for `open(..., opener=opener)`; a new one gets mode 0600.

    An existing regular file of this user loses the permissions of others.

    Raises:
        OSError: the file cannot be opened.
    """
    descriptor = os.open(path, flags, FILE_MODE)
    _close_to_others(descriptor)
    return descriptor


def write_text(path: Path, text: str) -> None:
    """Write a private file as UTF-8.

    Raises:
        OSError: the file cannot be written.
    """
    with open(path, "w", encoding="utf-8", opener=opener) as file:
        file.write(text)


def create_file(path: Path) -> None:
    """Create an empty private file; an existing one keeps its content.

    Raises:
        OSError: the file cannot be created.
    """
    with open(path, "ab", opener=opener):
        pass


def create_folder(path: Path) -> None:
    """Create a private folder and the private folders above it that are missing.

    Raises:
        OSError: a folder cannot be created.
    """
    # `mkdir` applies its mode only to the last folder.
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)


def is_private(path: Path) -> bool:
    """Return whether others have no permissions for a file or folder; links are not followed.

    Raises:
        OSError: its mode cannot be read.
    """
    if sys.platform == "win32":
        # It has lists of users instead of modes.
        return True
    status = path.lstat()
    return stat.S_ISLNK(status.st_mode) or not status.st_mode & _OTHERS


def make_private(path: Path) -> None:
    """Remove the permissions of others for a file or folder of this user.

    Links are neither followed nor changed. Nothing happens if the path does not exist, belongs to
    another user or cannot be changed, for example on a read-only file system.
    """
    with contextlib.suppress(OSError):
        handle = os.open(path, _HANDLE)
        try:
            _close_to_others(handle)
        finally:
            os.close(handle)


def _close_to_others(descriptor: int) -> None:
    """Remove the permissions of others for an open regular file or folder of this user."""
    if sys.platform == "win32":
        return
    status = os.fstat(descriptor)
    is_own = status.st_uid == os.geteuid()
    is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    if not (is_own and is_plain and status.st_mode & _OTHERS):
        return
    mode = stat.S_IMODE(status.st_mode) & ~_OTHERS
    # A descriptor that is only a handle cannot be changed itself.
    with contextlib.suppress(OSError):
        os.chmod(f"/proc/self/fd/{descriptor}" if _HAS_HANDLES else descriptor, mode)
