"""Mount a bot's own view of the file system without bubblewrap (pivot_root(2)).

The process must be allowed to mount: it is root, or in a user namespace of its own. The view
contains the paths of its entries only. All mounts are read-only apart from the bot's own. Reading a
file therefore does not change its access time, which another bot could read.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct

from arena.bots.sandbox import linux, view

PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
MOUNT_SETATTR = 442
AT_FDCWD = -100
AT_RECURSIVE = 0x8000
RDONLY, NOSUID = 0x1, 0x2
"""Attributes of mounts (mount_setattr(2))."""
NAMESPACES = linux.CLONE_NEWNS | linux.CLONE_NEWCGROUP | linux.CLONE_NEWUTS | linux.CLONE_NEWIPC
"""New namespaces of mounts, control groups, host names, and messages."""
DEVICES = ("null", "zero", "full", "random", "urandom")
DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
HOST_NAME = b"bot"

_libc = ctypes.CDLL(None, use_errno=True)


def enter(root: str, entries: list[view.Entry], *, network: bool) -> None:
    """Move this process into namespaces of its own, in which it sees only the entries.

    Args:
        root: an empty folder, the mount point of the new root.
        entries: the view.
        network: whether to keep the network of the machine.

    Raises:
        OSError: the kernel refuses a step.
    """
    linux.unshare(NAMESPACES | (0 if network else linux.CLONE_NEWNET))
    linux.checked(_libc.sethostname(HOST_NAME, len(HOST_NAME)), "sethostname")
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE, None)
    linux.mount("tmpfs", root, "tmpfs", linux.MS_NODEV, f"mode=0755,size={view.EMPTY}")
    for entry in entries:
        _mount_entry(entry, root + entry.path)
    _set_attributes(root, RDONLY | NOSUID, 0, AT_RECURSIVE)
    for entry in entries:
        if entry.kind in (view.WRITE, view.MEMORY) and entry.mode != view.HIDDEN:
            _set_attributes(root + entry.path, 0, RDONLY, 0)
    # The old root is mounted over the new one and then removed from it (pivot_root(2)).
    os.chdir(root)
    linux.checked(_libc.syscall(PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    linux.unmount(".")
    os.chdir("/")


def _mount_entry(entry: view.Entry, path: str) -> None:
    if entry.kind == view.LINK:
        os.symlink(entry.source, path)
    elif entry.kind == view.FOLDER:
        _make_folders(path)
    elif entry.kind == view.MEMORY:
        _make_folders(path)
        options = f"mode={entry.mode:04o},size={entry.size}"
        linux.mount("tmpfs", path, "tmpfs", linux.MS_NODEV, options)
    elif entry.kind == view.PROC:
        _mount_proc(path)
    elif entry.kind == view.DEV:
        _make_devices(path)
    else:
        _bind(entry.source, path)


def _bind(source: str, path: str) -> None:
    if os.path.isdir(source):
        _make_folders(path)
    elif not os.path.exists(path):
        _make_folders(os.path.dirname(path))
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o444))
    linux.mount(source, path, None, linux.MS_BIND | linux.MS_REC, None)


def _mount_proc(path: str) -> None:
    """Mount /proc: a new one that hides other users' processes, or that of the machine."""
    _make_folders(path)
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    try:
        linux.mount("proc", path, "proc", flags, "hidepid=2")
    except PermissionError:
        # In a user namespace; the rules of Landlock hide other processes there.
        linux.mount("/proc", path, None, linux.MS_BIND | linux.MS_REC, None)


def _make_devices(path: str) -> None:
    _make_folders(path)
    for name in DEVICES:
        _bind(f"/dev/{name}", f"{path}/{name}")
    for name, target in DEVICE_LINKS.items():
        os.symlink(target, f"{path}/{name}")


def _make_folders(path: str) -> None:
    """Create a folder and its parents for every user to enter, whatever the umask is."""
    if os.path.isdir(path):
        return
    _make_folders(os.path.dirname(path))
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)
        os.chmod(path, 0o755)


def _set_attributes(path: str, setting: int, clearing: int, flags: int) -> None:
    attributes = struct.pack("=4Q", setting, clearing, 0, 0)
    arguments = (AT_FDCWD, os.fsencode(path), flags, attributes, ctypes.c_size_t(len(attributes)))
    linux.checked(_libc.syscall(MOUNT_SETATTR, *arguments), "mount_setattr")
