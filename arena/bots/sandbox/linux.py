"""The few things of Linux that keeping processes takes."""

import contextlib
import ctypes
import errno
import os
import resource
import signal

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PF_EXITING = 4

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """Sets something about this process; OSError if the kernel refuses."""
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl {option}: {os.strerror(error)}")


def children(of: int) -> list[int]:
    """The processes whose parent is this one, adopted orphans included."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{of}/task"):
            with open(f"/proc/{of}/task/{task}/children") as listed:
                found.extend(int(pid) for pid in listed.read().split())
    except OSError:
        # It has just ended, or the kernel was built without that file.
        found = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent(pid) == of]
    return found


def parent(pid: str) -> int:
    """The parent of a process; 0 if it is gone."""
    return int(_stat(pid)[1])


def is_ending(pid: int) -> bool:
    """Whether a process has ended, or it or a descendant of it is about to.

    The kernel says so before it closes the descriptors of a process: whoever has lost a
    connection to a process because it ended finds it here.
    """
    stat = _stat(str(pid))
    exiting = stat[0] in "XZ" or bool(int(stat[6]) & PF_EXITING)
    return exiting or any(is_ending(child) for child in children(pid))


def peak_memory(pid: int) -> int:
    """The most bytes of memory that a process, or one of its descendants that live, has held."""
    return max(_peak(pid), *map(peak_memory, children(pid)), 0)


def _peak(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status") as status:
            held = next((line for line in status if line.startswith("VmHWM:")), "0 0")
        return 1024 * int(held.split()[1])
    except OSError:
        return 0


def _stat(pid: str) -> list[str]:
    """State, parent, group, session, terminal, its group and flags of a process, if it is there."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return ["X", "0", "0", "0", "0", "0", "0"]


def kill(pid: int) -> None:
    """Kills a process, if it is there."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def signal_group(leader: int, number: int) -> None:
    """Sends a signal to a process group, if it is there."""
    with contextlib.suppress(OSError):
        os.killpg(leader, number)


def lower(kind: int, limit: int) -> None:
    """Sets a resource limit, for good, or leaves it where it is lower already."""
    hard = resource.getrlimit(kind)[1]
    value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(kind, (value, value))


def volunteer() -> None:
    """When memory runs out, the kernel is to end this process before any of the arena."""
    try:
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")
    except OSError:
        pass


def is_reachable(path: str) -> bool:
    """Whether every user may enter the folders on the way to it."""
    while (path := os.path.dirname(path)) not in ("/", ""):
        if not os.stat(path).st_mode & 0o001:
            return False
    return True


def tasks() -> int:
    """How many processes and threads there are on this machine."""
    with open("/proc/loadavg") as file:
        return int(file.read().split()[3].partition("/")[2])


def check_program(path: str) -> None:
    """Raises OSError, as executing it would, if there is no such program."""
    if not os.stat(path).st_mode & 0o111:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def filled(wrapped: int, mount: str, size: int) -> tuple[int, int]:
    """Bytes and number of the files on the file system of `size` bytes that the children of a
    process see at `mount`; nothing as long as they see another one there."""
    for child in children(wrapped):
        try:
            found = os.statvfs(f"/proc/{child}/root{mount}")
        except OSError:
            continue
        if found.f_blocks * found.f_frsize != size:
            # Of the machine: the sandbox is still being made.
            continue
        return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree
    return 0, 0


def descendants(pid: int) -> list[int]:
    """Return all processes below a process."""
    below: list[int] = []
    pending = [pid]
    while pending:
        next_level = children(pending.pop())
        below += next_level
        pending += next_level
    return below
