"""Files about the machine that a bot sees in place of those of the kernel.

The files at the top of ``/proc`` hold counters of the whole machine. A bot could move such a
counter at one table and read it at the next one, or recognise the machine. A bot with its own view
of the file system sees fixed copies of those that runtimes read, and nothing of the others.
"""

from __future__ import annotations

import contextlib
import os
import stat

PROC = "/proc"
LINKS = ("self", "thread-self", "mounts", "net")
"""Entries of /proc that lead to the files of the reading process."""
CONSTANT = ("version", "filesystems")
"""Files of /proc that are copied: they change only with the kernel."""
SETTINGS = (
    *("kernel/cap_last_cap", "kernel/ngroups_max", "kernel/osrelease", "kernel/ostype"),
    *("kernel/pid_max", "kernel/threads-max", "net/core/somaxconn", "fs/file-max"),
    *("fs/nr_open", "fs/pipe-max-size", "vm/max_map_count", "vm/overcommit_memory"),
)
"""Files of /proc/sys that are copied: settings, not counters."""
CPUS = ("online", "possible", "present")
"""Files of /sys/devices/system/cpu that a bot without its own view may read."""
PAGES = ("enabled", "hpage_pmd_size", "shmem_enabled")
"""The same of /sys/kernel/mm/transparent_hugepage."""
LIVE = (
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime"),
    *(f"/proc/{name}" for name in CONSTANT),
    *(f"/proc/sys/{name}" for name in SETTINGS),
    *(f"/sys/devices/system/cpu/{name}" for name in CPUS),
    *(f"/sys/kernel/mm/transparent_hugepage/{name}" for name in PAGES),
)
"""Files of the kernel that a bot without its own view of the file system may read."""


def write_copies(folder: str) -> None:
    """Write the fixed copies into a new folder, by their paths below /proc.

    Raises:
        OSError: the folder cannot be written.
    """
    os.mkdir(folder)
    os.chmod(folder, 0o755)
    for name, text in copied_files().items():
        path = f"{folder}/{name}"
        _make_parents(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o444)


def copied_files() -> dict[str, str]:
    """Return the text of each fixed copy by its path below /proc; all counters in it are 0."""
    copies = {name: _read(f"{PROC}/{name}") for name in CONSTANT}
    copies |= {f"sys/{name}": _read(f"{PROC}/sys/{name}") for name in SETTINGS}
    copies["cpuinfo"] = "\n".join(map(_steady, _read(f"{PROC}/cpuinfo").split("\n")))
    copies["meminfo"] = _memory()
    processors = [f"cpu{number}" for number in sorted(os.sched_getaffinity(0))]
    times = "".join(f"{name} 0 0 0 0 0 0 0 0 0 0\n" for name in ("cpu ", *processors))
    copies["stat"] = f"{times}intr 0\nctxt 0\nbtime 0\nprocesses 1\nprocs_running 1\n"
    copies["uptime"] = "1.00 1.00\n"
    copies["loadavg"] = "0.00 0.00 0.00 1/1 1\n"
    return {name: text for name, text in copies.items() if text}


def masked() -> tuple[list[str], list[str]]:
    """Return the files and the folders at the top of /proc that a bot must not see.

    Only those that every user may read: a bot never runs as root.
    """
    files: list[str] = []
    folders: list[str] = []
    for entry in os.scandir(PROC):
        if entry.name.isdigit() or entry.name in LINKS or entry.is_symlink():
            continue
        with contextlib.suppress(OSError):
            mode = entry.stat().st_mode
            if mode & (0o001 if stat.S_ISDIR(mode) else 0o004):
                (folders if stat.S_ISDIR(mode) else files).append(entry.path)
    return sorted(files), sorted(folders)


def _make_parents(folder: str) -> None:
    if not os.path.isdir(folder):
        _make_parents(os.path.dirname(folder))
        os.mkdir(folder)
        os.chmod(folder, 0o755)


def _memory() -> str:
    """Return a meminfo in which the whole memory is free."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    sizes = {"MemTotal": total, "MemFree": total, "MemAvailable": total, "Buffers": 0, "Cached": 0}
    sizes |= {"SwapTotal": 0, "SwapFree": 0}
    return "".join(f"{name + ':':<15}{size:>9} kB\n" for name, size in sizes.items())


def _steady(line: str) -> str:
    return f"{line.partition(':')[0]}: 1000.000" if line.startswith("cpu MHz") else line


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
