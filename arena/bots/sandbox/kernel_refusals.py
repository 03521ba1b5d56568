"""Find out whether the kernel refuses the namespaces that bubblewrap needs.

Only such a definite refusal lets the arena choose a lower sandbox level; any other failure of a
self-test stops play (docs/decisions/2026-11-22-sandbox.md).
"""

import errno
import os
from typing import Final

from arena.bots.sandbox import linux

_NAMESPACES: Final = (
    linux.CLONE_NEWNS
    | linux.CLONE_NEWUTS
    | linux.CLONE_NEWIPC
    | linux.CLONE_NEWPID
    | linux.CLONE_NEWNET
)
_REFUSALS: Final = frozenset(
    (errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EUSERS, errno.ENOSYS, errno.EINVAL)
)
"""Errors with which a kernel refuses namespaces: forbidden, above a limit, or not built in."""

_BWRAP: Final = "bwrap: "
_MESSAGES: Final = (
    "No permissions to creat",
    "Creating new namespace failed",
    "setting up uid map: ",
    "loopback: ",
    "Can't mount proc on ",
    "Failed to make / slave: ",
)
"""Beginnings of bubblewrap's messages after the kernel refused a namespace or a mount."""
_DENIED: Final = ("Operation not permitted", "Permission denied")

SETTINGS: Final = {
    "/proc/sys/user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=15000"),
    "/proc/sys/kernel/unprivileged_userns_clone": (
        "0",
        "sysctl kernel.unprivileged_userns_clone=1",
    ),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}
"""Settings of the kernel that refuse user namespaces: the value that does, and a remedy."""


def kernel_refusal(output: str) -> str:
    """Return why the kernel refuses the sandbox of bubblewrap, as a clause; empty if it does not.

    Args:
        output: what the failed self-test printed. A refusal needs a message of bubblewrap.
    """
    last = next(reversed(output.splitlines()), "")
    if not last.startswith(_BWRAP):
        return ""
    message = last.removeprefix(_BWRAP)
    if message.startswith(_MESSAGES):
        return f"the kernel refuses namespaces: {message}"
    # Another message may be about a file. It counts only if this process is refused as well.
    if message.endswith(_DENIED) and namespaces_are_refused():
        return f"the kernel refuses namespaces: {message}"
    return ""


def remedy() -> str:
    """Return what makes the kernel allow namespaces, as far as its settings show it."""
    for path, (value, command) in SETTINGS.items():
        if setting(path) == value:
            return command
    return "allow user namespaces, or use a machine or container that allows them"


def setting(path: str) -> str:
    """Return the value of a kernel setting; empty if this kernel does not have it."""
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def namespaces_are_refused() -> bool:
    """Try in a child process to create the namespaces and mounts that bubblewrap needs.

    An ordinary user also needs a user namespace. Ubuntu 24.04 grants it without capabilities in it,
    so the mounts are tried as well.
    """
    pid = os.fork()
    if pid == 0:
        status = 0
        try:
            _create_namespaces()
        except OSError as error:
            status = int(error.errno in _REFUSALS)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def _create_namespaces() -> None:
    """Enter new namespaces and make the mounts private."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        linux.unshare(_NAMESPACES)
    else:
        linux.unshare(linux.CLONE_NEWUSER | _NAMESPACES)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"0 {uid} 1")
        _write("/proc/self/gid_map", f"0 {gid} 1")
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE, None)
    linux.mount("tmpfs", "/tmp", "tmpfs", 0, None)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
