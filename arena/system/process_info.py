"""Properties of this system, and the state of processes from Linux' /proc (proc_pid_stat(5))."""

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from arena.errors import InfrastructureError

_STATE = 0
_USER_TIME = 11
_SYSTEM_TIME = 12
_STARTED = 19


def require_linux(action: str, alternative: str = "") -> None:
    """Refuse an action that needs Linux.

    `action` is the subject and verb of the sentence, for example "Workers run", and `alternative` a
    sentence with what works here instead.

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


@dataclass(frozen=True, slots=True)
class Work:
    """Processor time, and bytes read from the disk, since the start of a process."""

    seconds: float
    read_bytes: int


def work(pid: int) -> Work:
    """Return the work of a process without its children; zeros if the system provides none."""
    times = [_field(pid, number) for number in (_USER_TIME, _SYSTEM_TIME)]
    seconds = sum(map(float, filter(None, times))) / os.sysconf("SC_CLK_TCK")
    with contextlib.suppress(OSError, ValueError):
        counters = Path(f"/proc/{pid}/io").read_text(encoding="ascii")
        lines = dict(line.split(": ") for line in counters.splitlines())
        return Work(seconds, int(lines["read_bytes"]))
    return Work(seconds, 0)


def _field(pid: int, number: int) -> str:
    """Return a field of /proc/PID/stat, counted from the state, which is number 0."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The preceding name is in brackets and may contain any character.
    return stat.rpartition(")")[2].split()[number]


def user_id() -> int:
    """Return the effective user id of this process; 0 on Windows, where all files have that."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


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


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the descendants of a process that was started with a session of its own, and itself."""
    if sys.platform == "win32":
        if process.poll() is None:
            tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            with contextlib.suppress(OSError):
                subprocess.run(tree, capture_output=True, check=False)
            process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
