"""Thin wrappers of the Linux interfaces for process control."""

import contextlib
import ctypes
import errno
import os
import signal

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PF_EXITING = 4
CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE, MS_SLAVE = 1 << 12, 1 << 14, 1 << 18, 1 << 19
MNT_DETACH = 2

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process.

    Raises:
        OSError: the kernel refuses it.
    """
    checked(_libc.prctl(option, value, 0, 0, 0), f"prctl {option}")


def unshare(namespaces: int) -> None:
    """Move this process into new namespaces.

    Raises:
        OSError: the kernel refuses it.
    """
    checked(_libc.unshare(namespaces), "unshare")


def mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str | None
) -> None:
    """Mount a file system, or change a mount (mount(2)).

    Raises:
        OSError: the kernel refuses it.
    """
    words = [None if word is None else os.fsencode(word) for word in (source, kind, options)]
    result = _libc.mount(words[0], os.fsencode(target), words[1], ctypes.c_ulong(flags), words[2])
    checked(result, f"mount {target}")


def unmount(target: str) -> None:
    """Remove a mount; processes that use it keep it alive.

    Raises:
        OSError: the kernel refuses it.
    """
    checked(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def checked(result: int, call: str) -> int:
    """Return the result of a call of the C library.

    Raises:
        OSError: the result is negative, so the call failed.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result


def children(of: int) -> list[int]:
    """Return the child processes of a process, adopted orphans included."""
    pids: list[int] = []
    try:
        for task in os.listdir(f"/proc/{of}/task"):
            with open(f"/proc/{of}/task/{task}/children") as file:
                pids.extend(int(pid) for pid in file.read().split())
    except OSError:
        # The process has just ended, or the kernel was built without that file.
        pids = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent(pid) == of]
    return pids


def parent(pid: str) -> int:
    """Return the parent of a process; 0 if the process does not exist."""
    return int(_stat(pid)[1])


def is_ending(pid: int) -> bool:
    """Return whether a process has ended, or it or a descendant is exiting.

    The kernel sets this flag before it closes the descriptors of a process. It is therefore set by
    the time a peer detects the closed connection.
    """
    stat = _stat(str(pid))
    exiting = stat[0] in "XZ" or bool(int(stat[6]) & PF_EXITING)
    return exiting or any(is_ending(child) for child in children(pid))


def peak_memory(pid: int) -> int:
    """Return the peak memory in bytes of the largest among a process and its live descendants."""
    return max(_peak(pid), *map(peak_memory, children(pid)), 0)


def _peak(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status") as status:
            line = next((line for line in status if line.startswith("VmHWM:")), "0 0")
        return 1024 * int(line.split()[1])
    except OSError:
        return 0


def _stat(pid: str) -> list[str]:
    """Return state, parent, group, session, terminal, its foreground group and flags of a process.

    For a missing process, the state is "X" and all numbers are 0.
    """
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return ["X", "0", "0", "0", "0", "0", "0"]


def kill(pid: int) -> None:
    """Kill a process, if it exists."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def signal_group(leader: int, number: int) -> None:
    """Send a signal to a process group, if it exists."""
    with contextlib.suppress(OSError):
        os.killpg(leader, number)


def lower_limit(kind: int, limit: int) -> None:
    """Lower a resource limit permanently; a limit that is already lower stays."""
    import resource

    hard = resource.getrlimit(kind)[1]
    value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(kind, (value, value))


def prefer_for_oom_kill() -> None:
    """Let the kernel's out-of-memory killer choose this process before those of the arena."""
    try:
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")
    except OSError:
        pass


def is_reachable(path: str) -> bool:
    """Return whether every user may enter all parent folders of a path."""
    # The path may begin with two slashes, which dirname keeps.
    while (path := os.path.dirname(path)).strip("/"):
        if not os.stat(path).st_mode & 0o001:
            return False
    return True


def tasks() -> int:
    """Return the number of processes and threads on this machine."""
    with open("/proc/loadavg") as file:
        return int(file.read().split()[3].partition("/")[2])


def check_program(path: str) -> None:
    """Check that a file exists and is executable.

    Raises:
        OSError: the same error as for its execution.
    """
    if not os.stat(path).st_mode & 0o111:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def used_on_mount(wrapped: int, mount: str, size: int) -> tuple[int, int]:
    """Return bytes and number of files on the file system that a sandbox has at `mount`.

    Args:
        wrapped: the process whose children are in the sandbox.
        mount: the mount point as seen by the children.
        size: the size of the file system; another size means that it is not mounted yet.

    Returns:
        The bytes and the number of files; 0, 0 if it is not mounted yet.
    """
    for child in children(wrapped):
        try:
            usage = os.statvfs(f"/proc/{child}/root{mount}")
        except OSError:
            continue
        if usage.f_blocks * usage.f_frsize != size:
            # The machine's own file system: the sandbox is not complete yet.
            continue
        return (usage.f_blocks - usage.f_bfree) * usage.f_frsize, usage.f_files - usage.f_ffree
    return 0, 0


def descendants(pid: int) -> list[int]:
    """Return all descendants of a process."""
    below: list[int] = []
    pending = [pid]
    while pending:
        next_level = children(pending.pop())
        below += next_level
        pending += next_level
    return below
