"""Cache of the versions that a machine has fetched: locks while in use, and eviction.

A process that plays a version holds a shared lock (flock) on its folder. Eviction requires an
exclusive lock. Several workers can therefore share a data folder, and a lock ends with its
process. A fetched version has a marker file beside its folder. A version added on this machine
has none and is never evicted.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.bots import version_store
from arena.bots.resolver import fetched
from arena.system import file_tree, private_files

_MARKS: Final = "*.fetched"


@dataclass(frozen=True, slots=True)
class _Kept:
    """A fetched version: the time of its last use, and the size of its files in bytes."""

    used: float
    size: int
    folder: Path


def held(folder: Path) -> int | None:
    """Return a descriptor that protects the folder of a version from eviction until it is closed.

    Returns:
        The descriptor; None if the folder does not exist or has just been evicted.
    """
    if sys.platform == "win32":
        # Folders have no descriptors, and workers, which evict versions, do not run.
        return os.open(os.devnull, os.O_RDONLY) if folder.is_dir() else None
    import fcntl

    descriptor = _opened(folder)
    if descriptor is None:
        return None
    # On a file system without locks, exclusive locks fail too, so nothing is evicted.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    if _is_still(descriptor, folder):
        return descriptor
    os.close(descriptor)
    return None


def note_fetched(folder: Path) -> None:
    """Write the marker file of a fetched version, whose folder must be locked.

    Raises:
        OSError: the marker cannot be written.
    """
    size = sum(entry.stat.st_size for entry in file_tree.walk(folder))
    private_files.write_text(fetched(folder), str(size))


def note_use(folder: Path) -> None:
    """Set the last use of a version to now, if it was fetched."""
    with contextlib.suppress(OSError):
        os.utime(fetched(folder))


def make_room(versions: Path, most: int, is_elsewhere: Callable[[str], bool]) -> list[str]:
    """Evict the least recently used fetched versions; return the evicted content hashes.

    Versions in use, and those that cannot be fetched again, stay even if the total exceeds `most`.

    Args:
        versions: the folder of the versions.
        most: maximum total size in bytes of the fetched versions' files.
        is_elsewhere: returns whether a content can be fetched again.

    Raises:
        OSError: a version cannot be removed.
    """
    version_store.tidy(versions)
    kept_versions = sorted(_kept(versions), key=lambda kept: kept.used)
    total, removed = sum(kept.size for kept in kept_versions), []
    for kept in kept_versions:
        if total <= most:
            break
        if is_elsewhere(kept.folder.name) and _taken_away(kept.folder, versions):
            total -= kept.size
            removed.append(kept.folder.name)
    return removed


def _kept(versions: Path) -> Iterator[_Kept]:
    for mark in versions.glob(_MARKS):
        # Another process may evict at the same time.
        with contextlib.suppress(FileNotFoundError):
            size = mark.read_text(encoding="utf-8")
            if size.isdigit():
                yield _Kept(mark.stat().st_mtime, int(size), mark.with_suffix(""))


def _taken_away(folder: Path, versions: Path) -> bool:
    """Remove a version; return False if it is in use."""
    descriptor = _opened(folder)
    if descriptor is None:
        fetched(folder).unlink(missing_ok=True)
        return True
    try:
        if not _locked_alone(descriptor) or not _is_still(descriptor, folder):
            return False
        # Remove the marker first: a process that fetches the version from now on writes a new one.
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
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_still(descriptor: int, folder: Path) -> bool:
    """Return whether the opened folder still has this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except FileNotFoundError:
        return False
