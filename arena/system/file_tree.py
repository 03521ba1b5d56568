"""File trees whose content a bot controls: measure, walk, change and remove them safely.

A bot can nest folders beyond the kernel's limit on paths and replace a folder by a link. It can
also remove permissions and use names that are not valid text. All functions are therefore
iterative, use descriptors of folders instead of paths, never follow links, and stop at limits.

The sandbox launcher imports this module, so it imports only modules that load quickly.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEPTH = 64
"""Maximum nesting of folders. A walk keeps one descriptor open per level."""
ENTRIES = 100_000
"""Default limit on files and folders."""

_IS_WINDOWS = os.stat not in os.supports_dir_fd
"""Whether folders have no descriptors. Only trusted bots run there, so paths are used instead."""
_FOLDER = _HANDLE = 0
if not _IS_WINDOWS:
    _FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    _HANDLE = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC
_PASSES = 8
"""Number of attempts to remove a tree while processes still create files in it."""
_BLOCK = 512
"""Unit of ``st_blocks`` in bytes."""


class TreeTooLarge(OSError):
    """A tree exceeds a limit.

    Attributes:
        bound: the limit: "depth" or "entries".
        limit: its value.
    """

    def __init__(self, bound: str, limit: int) -> None:
        sentence = {
            "depth": f"folders are nested more than {limit} levels deep",
            "entries": f"there are more than {limit} files and folders",
        }[bound]
        super().__init__(sentence)
        self.bound = bound
        self.limit = limit

    def __str__(self) -> str:
        return str(self.args[0])


class Entry:
    """A file, folder or link found by a walk. Valid until the walk continues.

    Attributes:
        parent: descriptor of the folder that holds it.
        name: its name in that folder.
        path: its path below the root of the walk, for messages and archives.
        stat: its own status; that of a link, not of the link's target.
    """

    __slots__ = ("name", "parent", "path", "stat")

    def __init__(self, parent: int, name: str, path: str, status: os.stat_result) -> None:
        self.parent = parent
        self.name = name
        self.path = path
        self.stat = status

    @property
    def is_folder(self) -> bool:
        """Return whether it is a folder."""
        return stat.S_ISDIR(self.stat.st_mode)

    @property
    def is_link(self) -> bool:
        """Return whether it is a symbolic link."""
        return stat.S_ISLNK(self.stat.st_mode)

    @property
    def is_file(self) -> bool:
        """Return whether it is a regular file."""
        return stat.S_ISREG(self.stat.st_mode)

    def open(self) -> int:
        """Open the regular file for reading, without following a link or blocking on a pipe."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(self.name, flags, dir_fd=self.parent)


def walk(
    root: str | os.PathLike[str],
    *,
    depth: int = DEPTH,
    entries: int = ENTRIES,
    enter: Callable[[Entry], bool] = lambda entry: True,
) -> Iterator[Entry]:
    """Walk a folder in the order of names, every folder before its content.

    Args:
        root: the folder; it must not be a link.
        depth: maximum nesting of folders.
        entries: maximum number of files and folders.
        enter: returns whether to walk the content of a folder too.

    Raises:
        TreeTooLarge: the tree exceeds a limit.
        OSError: a folder cannot be read.
    """
    if _IS_WINDOWS:
        yield from _walk_by_paths(os.fspath(root), "", depth, entries, enter)
        return
    count = 0
    # A level holds a descriptor, the path below the root, and the remaining names.
    levels: list[tuple[int, str, list[str]]] = []
    try:
        levels.append(_level(os.open(root, _FOLDER), "", entries))
        while levels:
            folder, prefix, names = levels[-1]
            if not names:
                os.close(levels.pop()[0])
                continue
            name = names.pop()
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                continue
            count += 1
            if count > entries:
                raise TreeTooLarge("entries", entries)
            entry = Entry(folder, name, f"{prefix}{name}", status)
            yield entry
            if entry.is_folder and enter(entry):
                if len(levels) >= depth:
                    raise TreeTooLarge("depth", depth)
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    inner = os.open(name, _FOLDER, dir_fd=folder)
                    levels.append(_level(inner, f"{entry.path}/", entries - count))
    finally:
        for level in levels:
            os.close(level[0])


def _walk_by_paths(
    root: str, prefix: str, depth: int, entries: int, enter: Callable[[Entry], bool]
) -> Iterator[Entry]:
    """Walk a folder on Windows. The entries have no descriptor of their folder."""
    count = 0
    for name in sorted(os.listdir(os.path.join(root, prefix))):
        path = os.path.join(root, prefix, name)
        entry = Entry(-1, name, f"{prefix}{name}", os.lstat(path))
        inner: Iterator[Entry] = iter(())
        if entry.is_folder and depth <= 1:
            raise TreeTooLarge("depth", DEPTH)
        yield entry
        if entry.is_folder and enter(entry):
            inner = _walk_by_paths(root, f"{entry.path}/", depth - 1, entries, enter)
        count += 1
        for below in inner:
            count += 1
            yield below
        if count > entries:
            raise TreeTooLarge("entries", entries)


def _level(folder: int, prefix: str, most: int) -> tuple[int, str, list[str]]:
    """Read the names of an open folder; on failure close it."""
    try:
        names: list[str] = []
        with os.scandir(folder) as listing:
            for entry in listing:
                names.append(entry.name)
                if len(names) > most:
                    raise TreeTooLarge("entries", most)
    except BaseException:
        os.close(folder)
        raise
    names.sort(reverse=True)
    return folder, prefix, names


def measure(root: str, entries: int) -> tuple[int, int]:
    """Return the allocated bytes and the number of entries of a folder.

    Raises:
        TreeTooLarge: it exceeds `entries`, or the limit on depth.
        OSError: the folder cannot be read.
    """
    size = count = 0
    for entry in walk(root, entries=entries):
        count += 1
        if not entry.is_folder:
            size += entry.stat.st_blocks * _BLOCK
    return size, count


def set_owner(root: str, uid: int) -> None:
    """Set the owner of a folder and its content to a user and the group of the same number.

    Raises:
        TreeTooLarge: it exceeds a limit; all entries before that have been changed.
        OSError: an owner cannot be changed.
    """
    os.chown(root, uid, uid, follow_symlinks=False)
    if os.path.isdir(root):
        for entry in walk(root):
            os.chown(entry.name, uid, uid, dir_fd=entry.parent, follow_symlinks=False)


def is_readable_to_all(path: str) -> bool:
    """Return whether every user may read a file, or a folder with all its content.

    The parent folders are not considered. A tree that exceeds a limit counts as not readable.
    """
    status = os.lstat(path)
    if not _lets_all_read(status):
        return False
    try:
        return not stat.S_ISDIR(status.st_mode) or all(
            _lets_all_read(entry.stat) for entry in walk(path)
        )
    except OSError:
        return False


def _lets_all_read(status: os.stat_result) -> bool:
    needed = 0o5 if status.st_mode & 0o111 else 0o4
    return stat.S_ISLNK(status.st_mode) or status.st_mode & needed == needed


def let_all_read(path: str | os.PathLike[str]) -> None:
    """Let every user read a file, or a folder with all its content.

    Raises:
        TreeTooLarge: it exceeds a limit.
        OSError: a mode cannot be changed.
    """
    status = os.lstat(path)
    if _IS_WINDOWS or stat.S_ISLNK(status.st_mode):
        return
    os.chmod(path, _readable(status))
    if stat.S_ISDIR(status.st_mode):
        for entry in walk(path):
            if entry.is_folder or entry.is_file:
                _change_mode(entry.parent, entry.name, _readable(entry.stat))


def _readable(status: os.stat_result) -> int:
    mode = stat.S_IMODE(status.st_mode)
    # A folder that cannot be entered gets the permission, too.
    return mode | (0o555 if mode & 0o111 or stat.S_ISDIR(status.st_mode) else 0o444)


def _change_mode(parent: int, name: str, mode: int) -> None:
    """Change the mode of a file or folder, but never that of a link's target."""
    if sys.platform == "darwin":
        os.chmod(name, mode, dir_fd=parent, follow_symlinks=False)
        return
    handle = os.open(name, _HANDLE, dir_fd=parent)
    try:
        if not stat.S_ISLNK(os.fstat(handle).st_mode):
            os.chmod(f"/proc/self/fd/{handle}", mode)
    finally:
        os.close(handle)


def copy(source: str, target: str) -> None:
    """Copy a file, or a folder with all its content, for every user to read.

    Links stay links; sockets, pipes and devices are omitted.

    Raises:
        TreeTooLarge: the tree exceeds a limit.
        OSError: a file cannot be read or written.
    """
    status = os.lstat(source)
    if not stat.S_ISDIR(status.st_mode):
        file = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        _copy_file(file, target, _readable(status))
        return
    os.mkdir(target)
    for entry in walk(source):
        path = f"{target}/{entry.path}"
        if entry.is_folder:
            os.mkdir(path)
        elif entry.is_link:
            os.symlink(os.readlink(entry.name, dir_fd=entry.parent), path)
        elif entry.is_file:
            _copy_file(entry.open(), path, _readable(entry.stat))
    let_all_read(target)


def _copy_file(file: int, target: str, mode: int) -> None:
    """Copy an open regular file and close it."""
    with os.fdopen(file, "rb") as source, open(target, "xb") as out:
        while block := source.read(1 << 20):
            out.write(block)
    os.chmod(target, mode)


def remove(path: str | os.PathLike[str]) -> bool:
    """Remove a file, or a folder with all its content, at any depth.

    Links are not followed, and errors are not raised. Entries remain only if the file system
    refuses their removal, or a process creates files faster than they are removed.

    Returns:
        Whether all is removed.
    """
    if _IS_WINDOWS:
        return _remove_by_path(os.fsdecode(path))
    parent, name = os.path.split(os.path.abspath(os.fsdecode(path)))
    try:
        above = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        return any(_remove(above, name) for _ in range(_PASSES))
    finally:
        os.close(above)


def _remove_by_path(path: str) -> bool:
    import shutil

    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return not os.path.lexists(path)


def _remove(above: int, name: str) -> bool:
    """Remove an entry of an open folder; return whether it is gone."""
    if _unlink(above, name):
        return True
    root = _enter(above, name)
    if root < 0:
        return False
    try:
        _empty(root)
    finally:
        os.close(root)
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=above)
    return not exists_in(above, name)


def _unlink(folder: int, name: str) -> bool:
    """Remove an entry that is not a folder; return whether the name is free."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def exists_in(folder: int, name: str) -> bool:
    """Return whether an open folder contains a name."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _enter(parent: int, name: str) -> int:
    """Open a folder to empty it, after setting the required mode; -1 if that fails."""
    with contextlib.suppress(OSError):
        _change_mode(parent, name, 0o700)
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except OSError:
        return -1


def _empty(root: int) -> None:
    """Remove the content of an open folder.

    An inner folder is emptied by moving its subfolders up into the root. The tree thus becomes flat
    during the removal: two descriptors are enough for any depth, and paths are single names.
    """
    pending = _names(root)
    moved = 0
    while pending:
        name = pending.pop()
        if _unlink(root, name):
            continue
        folder = _enter(root, name)
        if folder < 0:
            continue
        try:
            for inner in _names(folder):
                if _unlink(folder, inner):
                    continue
                # Moving a folder changes its "..", which requires write permission for it.
                with contextlib.suppress(OSError):
                    _change_mode(folder, inner, 0o700)
                moved += 1
                fresh = f".removed-{os.getpid()}-{moved}"
                with contextlib.suppress(OSError):
                    os.rename(inner, fresh, src_dir_fd=folder, dst_dir_fd=root)
                    pending.append(fresh)
        finally:
            os.close(folder)
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=root)


def _names(folder: int) -> list[str]:
    try:
        with os.scandir(folder) as listing:
            return [entry.name for entry in listing]
    except OSError:
        return []
