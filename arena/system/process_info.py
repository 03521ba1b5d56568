"""Properties of this system, and the state of processes from Linux' /proc (proc_pid_stat(5))."""

import os
import signal
import sys
from pathlib import Path

from arena.errors import InfrastructureError

_STATE = 0
_STARTED = 19


def require_linux(action: str, alternative: str = "") -> None:
    """Refuse an action that needs Linux.

    Args:
        action: the subject and verb of the sentence, for example "Workers run".
        alternative: a sentence with what works here instead.

    Raises:
        InfrastructureError: this system is not Linux.
    """
    if sys.platform != "linux":
        raise InfrastructureError(
            f"{action} only on Linux. Use a Linux machine, a virtual machine or a container."
            + (f" {alternative}" if alternative else "")
        )


def is_frozen(pid: int) -> bool:
    """Return whether a process is stopped (SIGSTOP, a debugger).

    False if the system does not provide the state.
    """
    return _field(pid, _STATE) in ("T", "t")


def has_ended(pid: int) -> bool:
    """Return whether a process is a zombie; False if the system does not provide the state."""
    return _field(pid, _STATE) in ("Z", "X")


def start_time(pid: int) -> str:
    """Return the start time of a process, which distinguishes it from others with the same id.

    Empty if the system does not provide it.
    """
    return _field(pid, _STARTED)


def _field(pid: int, number: int) -> str:
    """Return a field of /proc/PID/stat, counted from the state, which is number 0."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The preceding name is in brackets and may contain any character.
    return stat.rpartition(")")[2].split()[number]


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def signal_name(number: int) -> str:
    """Return the name of a signal, such as "SIGKILL"."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
