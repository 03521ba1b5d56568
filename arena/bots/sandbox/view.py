"""A bot's own view of the file system: its entries, for both ways to mount them."""

from __future__ import annotations

import os

from arena.bots.sandbox import machine_files
from arena.bots.sandbox.memory_disk import Disk, room
from arena.bots.sandbox.start_command import StartCommand
from arena.bots.sandbox.system_files import SYSTEM, settings

SCRATCH = "/tmp"
SHARED_MEMORY = "/dev/shm"
MODELS = "/models.sock"
"""The socket of a bot's models."""
SHM = 16 * 1024 * 1024
"""Size of /dev/shm in bytes."""
EMPTY = 256 * 1024
"""Size in bytes of the file system in place of a hidden folder, and of the root."""
HIDDEN = 0o555
"""Permissions of a file system in place of a hidden folder: nobody writes to it."""

FOLDER, LINK, READ, WRITE, MEMORY, PROC, DEV = (
    *("folder", "link", "read", "write", "memory", "proc", "dev"),
)
"""Kinds of an entry."""


class Entry:
    """A place in the view.

    Attributes:
        kind: FOLDER, LINK, READ (a path of the machine, read-only), WRITE (the same, writable),
            MEMORY (an empty file system in memory), PROC or DEV.
        path: the place in the view.
        source: the path of the machine; the text of a link.
        mode: permissions of a file system in memory.
        size: its size in bytes.
    """

    __slots__ = ("kind", "mode", "path", "size", "source")

    def __init__(
        self, kind: str, path: str, source: str = "", mode: int = 0, size: int = 0
    ) -> None:
        self.kind = kind
        self.path = path
        self.source = source
        self.mode = mode
        self.size = size


def entries(start: StartCommand, files: str, disk: Disk | None, copies: str) -> list[Entry]:
    """Return the entries of a bot's view, in the order in which they are mounted."""
    visible = settings(builds=start.builds, network=start.network)
    view = [*_system(start.system, visible), *_proc(copies), Entry(DEV, "/dev")]
    view.append(Entry(MEMORY, SHARED_MEMORY, mode=0o1777, size=SHM))
    if disk is not None:
        view.append(Entry(WRITE, SCRATCH, disk.scratch))
    else:
        view.append(Entry(MEMORY, SCRATCH, mode=0o1777, size=room(start.limits["scratch"])))
    mounts = {**{path: path for path in start.read}, start.place: files}
    if start.models:
        mounts[MODELS] = start.models
    view += _folders({*mounts, start.directory})
    for path, source in sorted(mounts.items()):
        view.append(Entry(WRITE if source in start.write else READ, path, source))
    socket = start.directory if disk is None else disk.socket
    return [*view, Entry(WRITE, start.directory, socket)]


def _system(system: list[str], visible: list[str]) -> list[Entry]:
    view = [*_folders(set(system)), *(Entry(READ, path, path) for path in system)]
    for path in SYSTEM:
        if os.path.islink(path):
            view.append(Entry(LINK, path, os.readlink(path)))
        elif os.path.isdir(path):
            view.append(Entry(READ, path, path))
    view += _folders(set(visible))
    return [*view, *(Entry(READ, path, path) for path in visible)]


def _proc(copies: str) -> list[Entry]:
    """Return /proc with the files of processes and the fixed copies."""
    files, folders = machine_files.masked()
    view = [Entry(PROC, machine_files.PROC)]
    for path in (*files, *folders):
        copy = copies + path.removeprefix(machine_files.PROC)
        if os.path.exists(copy):
            view.append(Entry(READ, path, copy))
        elif path in files:
            view.append(Entry(READ, path, os.devnull))
        else:
            view.append(Entry(MEMORY, path, mode=HIDDEN, size=EMPTY))
    return view


def _folders(paths: set[str]) -> list[Entry]:
    """Return all parent folders, highest first, so that they are accessible to the bot."""
    parents: set[str] = set()
    for path in paths:
        while (path := os.path.dirname(path)) != SCRATCH and path.strip("/"):
            parents.add(path)
    return [Entry(FOLDER, path) for path in sorted(parents)]
