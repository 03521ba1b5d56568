"""Command line of bubblewrap, which runs a bot with its own view of the file system."""

from __future__ import annotations

import os

from arena.bots.sandbox import seccomp, view
from arena.bots.sandbox.start_command import StartCommand

SETPRIV = "/usr/bin/setpriv"


def bubblewrap_command(
    start: StartCommand, uid: int | None, entries: list[view.Entry]
) -> list[str]:
    """Return the command that runs the bot in a sandbox.

    Detailed arguments go through a pipe. Otherwise they would be visible in the sandbox as the
    command line of its first process. Bubblewrap inherits the pipes and closes them.
    """
    details = _piped("\0".join(_details(start, uid, entries)).encode())
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


def _details(start: StartCommand, uid: int | None, entries: list[view.Entry]) -> list[str]:
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
    for entry in entries:
        words += _mounted(entry)
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    for name, value in start.env.items():
        words += ["--setenv", name, value]
    return words


def _with_capabilities(*capabilities: str) -> list[str]:
    return [word for name in capabilities for word in ("--cap-add", name)]


def _mounted(entry: view.Entry) -> list[str]:
    if entry.kind == view.FOLDER:
        return ["--perms", "0755", "--dir", entry.path]
    if entry.kind == view.LINK:
        return ["--symlink", entry.source, entry.path]
    if entry.kind == view.READ:
        return ["--ro-bind", entry.source, entry.path]
    if entry.kind == view.WRITE:
        return ["--bind", entry.source, entry.path]
    if entry.kind == view.MEMORY:
        options = ["--size", str(entry.size), "--perms", f"{entry.mode:04o}"]
        return [*options, "--tmpfs", entry.path]
    return [f"--{entry.kind}", entry.path]


def _piped(data: bytes) -> int:
    """Return the read end of a pipe that contains the data and is inherited across exec."""
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    os.write(writing, data)
    os.close(writing)
    return reading
