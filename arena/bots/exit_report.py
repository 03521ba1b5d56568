"""Report how a bot's process ended, and which limits it exceeded."""

import os
import signal
from dataclasses import dataclass
from typing import Any, Final

from arena.system import file_tree
from arena.system.process_info import signal_name

MIB: Final = 1024 * 1024
EXCESS: Final = {
    "memory": "used more than {memory} of memory",
    "scratch": "wrote more than {scratch} into its scratch space",
    "files": "created more than {files} files",
    "depth": f"nested folders more than {file_tree.DEPTH} levels deep",
    "hidden": "removed the read permission of a folder of its scratch space",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one bot process; the output counts over all processes of a seat."""

    nofile: int = 1024
    """Number of open files."""
    fsize: int = 64 * MIB
    """Maximum size in bytes of a file it writes."""
    data: int = 2048 * MIB
    """Writable private memory in bytes (RLIMIT_DATA).

    A limit on the address space would break Node and JVMs.
    """
    output: int = 8 * MIB
    """Bytes written to standard output and error."""
    memory: int = 1024 * MIB
    """Memory in bytes of all its processes together, including files in memory.

    It applies only where control groups are available.
    """
    processes: int = 256
    """Number of processes and threads."""
    scratch: int = 64 * MIB
    """Total size in bytes of the files in its scratch space."""
    files: int = 4096
    """Number of files in its scratch space."""
    stop_ms: int = 250
    """Milliseconds between SIGTERM and SIGKILL when its table ends."""


@dataclass(frozen=True, slots=True)
class Report:
    """Report on a seat's process."""

    seat: int
    ended: str = ""
    """How it ended, as a clause ("exited with status 1"); empty while it runs."""
    resources: bool = False
    """Whether it was killed because it exceeded its limits."""
    output: str = ""
    """Its output: the first 4 KiB and the last 64 KiB, without control characters."""
    status: int | None = None
    """Exit status; None while it runs or if a signal ended it."""
    signal: str = ""
    """Name of the signal that ended it, for example "SIGSEGV"; otherwise empty."""
    peak_memory: int = 0
    """Peak memory in bytes of all its processes together; 0 if unknown.

    Without a control group, or while the process runs, it is that of the largest process.
    """


def clause(report: dict[str, Any], limits: Limits) -> tuple[str, bool]:
    """Describe how a process ended, from the sandbox launcher's report.

    Returns:
        A clause about the process, and whether it exceeded its limits.
    """
    if report["flooded"]:
        return flooded(limits), True
    if report["excess"]:
        return (
            f"was stopped by the arena: {EXCESS[report['excess']].format(**_limit_texts(limits))}",
            True,
        )
    if report["failed"]:
        return f"could not be started: {report['failed']}", False
    if report["status"] is None:
        return "was killed together with its init process", False
    code = os.waitstatus_to_exitcode(report["status"])
    if code == -signal.SIGXFSZ:
        return f"was stopped by the arena: wrote more than {_size(limits.fsize)} into a file", True
    if code < 0:
        return f"was killed by {signal_name(-code)}", False
    return f"exited with status {code}", False


def flooded(limits: Limits) -> str:
    """Return the clause about a process that wrote too much output."""
    return f"was stopped by the arena: wrote more than {_size(limits.output)} of output"


def _limit_texts(limits: Limits) -> dict[str, str]:
    return {
        "memory": _size(limits.memory),
        "scratch": _size(limits.scratch),
        "files": str(limits.files),
    }


def ending(report: dict[str, Any]) -> tuple[int | None, str]:
    """Return the exit status or the name of the signal, from the sandbox launcher's report."""
    if report["failed"] or report["status"] is None:
        return None, ""
    code = os.waitstatus_to_exitcode(report["status"])
    return (None, signal_name(-code)) if code < 0 else (code, "")


def _size(size: int) -> str:
    return f"{size // MIB} MiB" if size % MIB == 0 else f"{size} bytes"
