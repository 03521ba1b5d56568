"""The command line of bubblewrap: what a bot sees, and as whom it runs (bwrap(1))."""

from __future__ import annotations

import os

from arena.bots.keeper import seccomp
from arena.bots.keeper.disk import room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from arena.bots.keeper.disk import Disk
    from arena.bots.keeper.order import Order

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders of programs and libraries, which are links into /usr on most systems."""
SETTINGS = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"),
    *("/etc/localtime", "/etc/ssl/openssl.cnf", "/etc/nsswitch.conf"),
)
"""What runtimes read of the system's settings; nothing that says who and where this is."""
NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/pki", "/etc/ca-certificates"),
    "/etc/ca-certificates.conf",
)
"""What it takes besides to fetch something."""
BUILDS = ("/etc/maven",)
"""What it takes besides to build something."""
SCRATCH = "/tmp"
SETPRIV = "/usr/bin/setpriv"
SHM = 16 * 1024 * 1024
"""Bytes of /dev/shm."""


def command(order: Order, uid: int | None, files: str, disk: Disk | None) -> list[str]:
    """The command that runs the bot in a sandbox; ``files`` are its own, or a copy of them.

    What it says in detail goes through a pipe, so that it does not show in the sandbox as the
    command line of its first process. The pipes are inherited by bubblewrap, which closes them.
    """
    details = _piped("\0".join(_details(order, uid, files, disk)).encode())
    calls = _piped(seccomp.program(namespaces=True, locks=order.builds))
    words = [order.bwrap, "--args", str(details), "--seccomp", str(calls), "--"]
    return [*words, *_as_user(uid), *order.argv]


def _as_user(uid: int | None) -> list[str]:
    if uid is None:
        return []
    user = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    return [SETPRIV, *user, "--inh-caps=-all", "--bounding-set=-all", "--"]


def _details(order: Order, uid: int | None, files: str, disk: Disk | None) -> list[str]:
    words = ["--die-with-parent", "--new-session", "--chdir", order.cwd]
    if not order.network:
        words += ["--unshare-net"]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "bot"]
    if uid is None:
        words += ["--unshare-user"]
    else:
        words += ["--cap-drop", "ALL", *_kept("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")]
    words += _system((*(NETWORK if order.network else ()), *(BUILDS if order.builds else ())))
    if disk is not None:
        words += ["--bind", disk.scratch, SCRATCH]
    else:
        words += [
            "--size",
            str(room(order.limits["scratch"])),
            "--perms",
            "1777",
            "--tmpfs",
            SCRATCH,
        ]
    places = {**{path: path for path in (*order.read, *order.write)}, order.own: files}
    for path in _parents({*places, order.directory}):
        words += ["--perms", "0755", "--dir", path]
    for path, source in sorted(places.items()):
        words += ["--bind" if path in order.write else "--ro-bind", source, path]
    socket = order.directory if disk is None else disk.socket
    words += ["--bind", socket, order.directory, "--remount-ro", "/"]
    for name, value in order.env.items():
        words += ["--setenv", name, value]
    return words


def _kept(*capabilities: str) -> list[str]:
    return [word for name in capabilities for word in ("--cap-add", name)]


def _system(more: tuple[str, ...]) -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for path in SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    shown = [*settings(), *filter(os.path.exists, more)]
    for path in _parents(set(shown)):
        words += ["--perms", "0755", "--dir", path]
    for path in shown:
        words += ["--ro-bind", path, path]
    words += ["--proc", "/proc", "--dev", "/dev"]
    words += ["--size", str(SHM), "--perms", "1777", "--tmpfs", "/dev/shm"]
    return [*words, "--remount-ro", "/dev"]


def _parents(paths: set[str]) -> list[str]:
    """The folders above them, highest first: bubblewrap makes them for itself alone."""
    found: set[str] = set()
    for path in paths:
        while (path := os.path.dirname(path)) not in ("/", SCRATCH):
            found.add(path)
    return sorted(found)


def settings() -> list[str]:
    """The settings of the system that are there; a JVM keeps its own in a folder of its version."""
    javas = [f"/etc/{name}" for name in os.listdir("/etc") if name.startswith("java")]
    return [path for path in (*SETTINGS, *javas) if os.path.exists(path)]


def _piped(data: bytes) -> int:
    """The end of a pipe at which the data can be read, open in what is executed next."""
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    os.write(writing, data)
    os.close(writing)
    return reading
