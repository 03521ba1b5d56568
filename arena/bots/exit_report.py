"""What became of a bot's process, in words."""

import os
import signal
from dataclasses import dataclass
from typing import Any, Final

from arena.system import file_tree

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one bot process may use; the output is counted over all of a seat's processes."""

    nofile: int = 1024
    """Open files."""
    fsize: int = 64 * MIB
    """Bytes of a file it writes."""
    data: int = 2048 * MIB
    """Bytes of writable memory of its own (RLIMIT_DATA: an address limit ends Node and JVMs)."""
    output: int = 8 * MIB
    """Bytes written to standard output and error."""
    memory: int = 1024 * MIB
    """Bytes of memory of all its processes together, files in memory included; where the machine
    counts it (control groups)."""
    processes: int = 256
    """Processes and threads."""
    scratch: int = 64 * MIB
    """Bytes of files in its scratch space."""
    files: int = 4096
    """Files in its scratch space."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the process of a seat."""

    seat: int
    ended: str = ""
    """How it ended, as a clause ("exited with status 1"); empty while it runs."""
    resources: bool = False
    """Whether it was ended because it went beyond its limits."""
    output: str = ""
    """What it has written: the first 4 KiB and the last 64 KiB, without control characters."""
    status: int | None = None
    """The status it exited with; None while it runs, or if a signal ended it."""
    signal: str = ""
    """The signal that ended it, "SIGSEGV"; empty if none did."""
    peak_memory: int = 0
    """The most bytes of memory that its processes have held together, or, without a control group,
    the largest of them; 0 if nobody knows."""


def clause(said: dict[str, Any], limits: Limits) -> tuple[str, bool]:
    """How a process ended, from the keeper's report, and whether it went beyond its limits."""
    if said["flooded"]:
        return f"was stopped by the arena: wrote more than {_size(limits.output)} of output", True
    if said["excess"]:
        return f"was stopped by the arena: {EXCESS[said['excess']].format(**_shown(limits))}", True
    if said["failed"]:
        return f"could not be started: {said['failed']}", False
    if said["status"] is None:
        return "was killed together with its guard", False
    code = os.waitstatus_to_exitcode(said["status"])
    if code == -signal.SIGXFSZ:
        return f"was stopped by the arena: wrote more than {_size(limits.fsize)} into a file", True
    if code < 0:
        return f"was killed by {_signal_name(-code)}", False
    return f"exited with status {code}", False


EXCESS: Final = {
    "memory": "used more than {memory} of memory",
    "scratch": "wrote more than {scratch} into its scratch space",
    "files": "made more than {files} files",
    "depth": f"nested folders more than {file_tree.DEPTH} levels deep",
    "hidden": "took away the right to read a folder of its scratch space",
}


def _shown(limits: Limits) -> dict[str, str]:
    return {
        "memory": _size(limits.memory),
        "scratch": _size(limits.scratch),
        "files": str(limits.files),
    }


def ending(said: dict[str, Any]) -> tuple[int | None, str]:
    """The status a process exited with, or the signal that ended it, from the keeper's report."""
    if said["failed"] or said["status"] is None:
        return None, ""
    code = os.waitstatus_to_exitcode(said["status"])
    return (None, _signal_name(-code)) if code < 0 else (code, "")


def _size(size: int) -> str:
    return f"{size // MIB} MiB" if size % MIB == 0 else f"{size} bytes"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
