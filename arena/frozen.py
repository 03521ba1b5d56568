"""Whether a process has been stopped and not continued (SIGSTOP, a debugger)."""

from pathlib import Path


def is_frozen(pid: int) -> bool:
    """Whether it stands still now; false where the system does not say (it is no Linux)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    # The name before it is in brackets, and may hold anything (proc_pid_stat(5)).
    return stat.rpartition(")")[2].split()[0] in "Tt"
