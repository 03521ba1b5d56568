"""Temporary folders that a killed process leaves only until the next one is created beside them.

The process that creates a folder holds a lock on it (flock(2)), which the kernel releases when the
process ends for any reason. Process ids would not do: in containers that share a folder, each has
its own numbers. A folder without a lock therefore has no owner, and `create` removes it.

On a file system without such locks, and on Windows, abandoned folders stay.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.system import file_tree, process_info

PREFIX: Final = "pokearena-tmp-"
"""Start of the names of temporary folders in a folder for temporary files or sockets."""
HIDDEN_PREFIX: Final = f".{PREFIX}"
"""Start of the names of temporary folders in a folder of the user."""
NAME_LENGTH: Final = len(PREFIX) + 8
_NAME: Final = re.compile(rf"\.?{PREFIX}[a-z0-9_]{{8}}")

_locks: dict[Path, int] = {}
"""The descriptors that hold the locks of this process, by folder."""


def create(parent: Path, prefix: str = HIDDEN_PREFIX) -> Path:
    """Create a folder with mode 0700, and remove those of killed processes beside it.

    Args:
        parent: the folder to create it in.
        prefix: the start of its name, `PREFIX` or `HIDDEN_PREFIX`.

    Returns:
        The new folder; `remove` removes it.

    Raises:
        OSError: it cannot be created.
    """
    remove_abandoned(parent)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        lock = _lock(folder, wait=True)
        if lock is not None:
            _locks[folder] = lock
        if folder.exists():
            return folder
        # Another process removed it before it was locked.
        _unlock(folder)


def remove(folder: Path) -> None:
    """Remove a folder of `create` with its content; folders with other names stay."""
    if _NAME.fullmatch(folder.name) and not folder.is_symlink():
        file_tree.remove(folder)
    _unlock(folder)


@contextlib.contextmanager
def temporary_folder(parent: Path, prefix: str = HIDDEN_PREFIX) -> Iterator[Path]:
    """Provide a folder of `create` for the duration of the block.

    Raises:
        OSError: it cannot be created.
    """
    folder = create(parent, prefix)
    try:
        yield folder
    finally:
        remove(folder)


def remove_abandoned(parent: Path) -> None:
    """Remove the temporary folders in a folder whose processes have ended; raise no errors."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for folder in [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]:
            if folder in _locks or not _is_own(folder):
                continue
            lock = _lock(folder, wait=False)
            if lock is not None:
                file_tree.remove(folder)
                os.close(lock)


def _is_own(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == process_info.user_id()


def _lock(folder: Path, *, wait: bool) -> int | None:
    """Lock a folder; return the descriptor that holds the lock, or None without one."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _unlock(folder: Path) -> None:
    lock = _locks.pop(folder, None)
    if lock is not None:
        os.close(lock)
