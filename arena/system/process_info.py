"""What Linux tells of a process (proc_pid_stat(5))."""

import os
from pathlib import Path

_STATE = 0
_STARTED = 19


def is_frozen(pid: int) -> bool:
    """Whether it has been stopped and not continued (SIGSTOP, a debugger).

    False where the system does not say.
    """
    return _field(pid, _STATE) in ("T", "t")


def has_ended(pid: int) -> bool:
    """Whether all that is left of it is the news for its parent. False where nobody says."""
    return _field(pid, _STATE) in ("Z", "X")


def began(pid: int) -> str:
    """When it began, which no other process of this id has in common with it.

    Empty where the system does not say.
    """
    return _field(pid, _STARTED)


def _field(pid: int, number: int) -> str:
    """A field of its status; its state is number 0."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The name before it is in brackets, and may hold anything.
    return stat.rpartition(")")[2].split()[number]


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
