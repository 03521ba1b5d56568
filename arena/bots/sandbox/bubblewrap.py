"""Command line of bubblewrap, which runs a bot with its own view of the file system."""

from __future__ import annotations

import os

from arena.bots.sandbox import seccomp
from arena.bots.sandbox.memory_disk import Disk, room
from arena.bots.sandbox.start_command import StartCommand
from arena.bots.sandbox.system_files import BUILDS, NETWORK, SYSTEM, settings

SCRATCH = "/tmp"
SETPRIV = "/usr/bin/setpriv"
SHM = 16 * 1024 * 1024
"""Size of /dev/shm in bytes."""


def bubblewrap_command(
    start: StartCommand, uid: int | None, files: str, disk: Disk | None
) -> list[str]:
    """Return the command that runs the bot in a sandbox.

    Detailed arguments go through a pipe. Otherwise they would be visible in the sandbox as the
    command line of its first process. Bubblewrap inherits the pipes and closes them.

    Args:
        start: the start command.
        uid: the bot's user; None if it runs as the current user.
        files: the bot's files, or a copy of them.
        disk: the bot's file system, if it has one.
    """
    details = _piped("\0".join(_details(start, uid, files, disk)).encode())
    calls = _piped(
        seccomp.program(namespaces=True, locks=start.builds, own_files=True, internet=start.builds)
    )
    words = [start.bwrap, "--args", str(details), "--seccomp", str(calls), "--"]
    return [*words, *_as_user(uid), *start.argv]


def _as_user(uid: int | None) -> list[str]:
    if uid is None:
        return []
    user = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    return [SETPRIV, *user, "--inh-caps=-all", "--bounding-set=-all", "--"]


def _details(start: StartCommand, uid: int | None, files: str, disk: Disk | None) -> list[str]:
    words = ["--die-with-parent", "--new-session", "--chdir", start.cwd]
    if not start.network:
        words += ["--unshare-net"]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "bot"]
    if uid is None:
        words += ["--unshare-user"]
    else:
        words += [
            "--cap-drop",
            "ALL",
            *_with_capabilities("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"),
        ]
    words += _system((*(NETWORK if start.network else ()), *(BUILDS if start.builds else ())))
    if disk is not None:
        words += ["--bind", disk.scratch, SCRATCH]
    else:
        words += [
            "--size",
            str(room(start.limits["scratch"])),
            "--perms",
            "1777",
            "--tmpfs",
            SCRATCH,
        ]
    mounts = {**{path: path for path in (*start.read, *start.write)}, start.own: files}
    for path in _parents({*mounts, start.directory}):
        words += ["--perms", "0755", "--dir", path]
    for path, source in sorted(mounts.items()):
        words += ["--bind" if path in start.write else "--ro-bind", source, path]
    socket = start.directory if disk is None else disk.socket
    words += ["--bind", socket, start.directory, "--remount-ro", "/"]
    for name, value in start.env.items():
        words += ["--setenv", name, value]
    return words


def _with_capabilities(*capabilities: str) -> list[str]:
    return [word for name in capabilities for word in ("--cap-add", name)]


def _system(more: tuple[str, ...]) -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for path in SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    visible = [*settings(), *filter(os.path.exists, more)]
    for path in _parents(set(visible)):
        words += ["--perms", "0755", "--dir", path]
    for path in visible:
        words += ["--ro-bind", path, path]
    words += ["--proc", "/proc", "--dev", "/dev"]
    words += ["--size", str(SHM), "--perms", "1777", "--tmpfs", "/dev/shm"]
    return [*words, "--remount-ro", "/dev"]


def _parents(paths: set[str]) -> list[str]:
    """Return all parent folders, highest first; bubblewrap would create them without access."""
    parents: set[str] = set()
    for path in paths:
        while (path := os.path.dirname(path)) not in ("/", SCRATCH):
            parents.add(path)
    return sorted(parents)


def _piped(data: bytes) -> int:
    """Return the read end of a pipe that contains the data and is inherited across exec."""
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    os.write(writing, data)
    os.close(writing)
    return reading
