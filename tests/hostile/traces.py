"""Find what bots leave behind on the machine."""

import os
import tempfile
from pathlib import Path

from arena.bots.sandbox.user_ids import FIRST_USER_ID, USER_ID_COUNT

MARK = "sleep\0" + "31.4159"
"""The command line of the daemons that the corpus leaves behind."""


def current_traces() -> set[str]:
    """Return processes, files, sockets and control groups of bots, of any arena."""
    return {*_processes(), *_files(), *_sockets(), *_groups()}


def _processes() -> set[str]:
    traces = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            owner = os.stat(f"/proc/{pid}").st_uid
            command = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
        except OSError:
            continue
        if FIRST_USER_ID <= owner < FIRST_USER_ID + USER_ID_COUNT or MARK in command:
            traces.add(f"process {pid} of {owner}: {command!r}")
    return traces


def _files() -> set[str]:
    places = {tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"}
    names = ("pokearena-bot-", "pokearena-hostile-mark", "core")
    return {
        str(path)
        for place in places
        if os.path.isdir(place)
        for path in Path(place).iterdir()
        if path.name.startswith(names)
    }


def _sockets() -> set[str]:
    lines = Path("/proc/net/unix").read_text().splitlines()[1:]
    names = (line.split()[-1] for line in lines)
    return {name for name in names if "pokearena-uid" in name or "pokearena-bot" in name}


def _groups() -> set[str]:
    return {
        folder
        for folder, folders, _ in os.walk("/sys/fs/cgroup")
        if "pokearena" in os.path.basename(folder)
    }
