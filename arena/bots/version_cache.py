"""The versions a machine has fetched: who plays them, and how many of them are kept.

Who plays one has a shared lock (flock) on its folder, and a folder is taken away under an exclusive
one: so several workers may have one data folder, and a lock ends with its process. What was fetched
has a mark beside it. What was added on this machine has none, and is never taken away.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.bots import version_store
from arena.bots.resolver import fetched
from arena.system import file_tree

_MARKS: Final = "*.fetched"


@dataclass(frozen=True, slots=True)
class _Kept:
    """A fetched version: when it was last played here, and the size of its files in bytes."""

    used: float
    size: int
    folder: Path


def held(folder: Path) -> int | None:
    """A descriptor that keeps the folder of a version from being taken away until it is closed.

    None if the folder is not there, or has just been taken away.
    """
    descriptor = _opened(folder)
    if descriptor is None:
        return None
    # Where a file system has no locks nobody gets an exclusive one, and nothing goes.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    if _is_still(descriptor, folder):
        return descriptor
    os.close(descriptor)
    return None


def note_fetched(folder: Path) -> None:
    """Marks a folder, which is held, as one that may be fetched again. Raises OSError."""
    size = sum(entry.stat.st_size for entry in file_tree.walk(folder))
    fetched(folder).write_text(str(size), encoding="utf-8")


def note_use(folder: Path) -> None:
    """Notes that a version is played now, if it was fetched."""
    with contextlib.suppress(OSError):
        os.utime(fetched(folder))


def make_room(versions: Path, most: int, is_elsewhere: Callable[[str], bool]) -> list[str]:
    """Takes away what was fetched and not played for the longest time; gives what went.

    Nothing that is played goes, nor what is not elsewhere: rather more than `most` is kept.

    most: bytes that the files of fetched versions may have.
    is_elsewhere: whether a content can be fetched again.

    Raises:
        OSError: something cannot be removed.
    """
    version_store.tidy(versions)
    found = sorted(_kept(versions), key=lambda kept: kept.used)
    total, gone = sum(kept.size for kept in found), []
    for kept in found:
        if total <= most:
            break
        if is_elsewhere(kept.folder.name) and _taken_away(kept.folder, versions):
            total -= kept.size
            gone.append(kept.folder.name)
    return gone


def _kept(versions: Path) -> Iterator[_Kept]:
    for mark in versions.glob(_MARKS):
        # Somebody else may be making room.
        with contextlib.suppress(FileNotFoundError):
            size = mark.read_text(encoding="utf-8")
            if size.isdigit():
                yield _Kept(mark.stat().st_mtime, int(size), mark.with_suffix(""))


def _taken_away(folder: Path, versions: Path) -> bool:
    """Whether the folder is there no more; False if somebody plays it."""
    descriptor = _opened(folder)
    if descriptor is None:
        fetched(folder).unlink(missing_ok=True)
        return True
    try:
        if not _locked_alone(descriptor) or not _is_still(descriptor, folder):
            return False
        # The mark first: whoever fetches it from now on makes one of his own.
        fetched(folder).unlink(missing_ok=True)
        with version_store.fresh(versions) as old:
            folder.rename(old / folder.name)
    finally:
        os.close(descriptor)
    return True


def _opened(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None


def _locked_alone(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_still(descriptor: int, folder: Path) -> bool:
    """Whether what was opened is what has this name by now."""
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except FileNotFoundError:
        return False
