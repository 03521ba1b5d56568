"""Control group of one bot: limits on all its processes together (cgroups(7), both versions).

Without the permission to create groups, only the limits per process apply.
"""

from __future__ import annotations

import contextlib
import os
import time

PREFIX = "pokearena.bot-"
ROOT = "/sys/fs/cgroup"
FIRST = ("memory", "pids", "cpu")
"""The controllers that are used; in version 1 each has a separate tree."""
RECLAIMS = 8
"""Attempts to reclaim the memory of a group (version 2)."""
LEAVING = 1.0
"""Maximum time in seconds for the last processes to leave a group."""


class Cgroup:
    """The groups of one bot; none if they cannot be created.

    Args:
        memory: limit in bytes of all its processes, including files in memory.
        processes: limit on processes and threads.
        root: mount point of the control groups.
    """

    def __init__(self, memory: int, processes: int, root: str = ROOT) -> None:
        self.folders: dict[str, str] = {}
        name = f"{mine()}{os.getpid()}-{os.urandom(4).hex()}"
        for controller, parent in parents(root).items():
            sweep(parent)
            folder = f"{parent}/{name}"
            try:
                if folder not in self.folders.values():
                    os.mkdir(folder)
                self.folders[controller] = folder
            except OSError:
                continue
        self.bound(memory, processes)

    def bound(self, memory: int, processes: int) -> None:
        if not self.put("memory", "memory.limit_in_bytes", memory):
            self.put("memory", "memory.max", memory)
            self.put("memory", "memory.swap.max", 0)
        # Limit of memory and swap together, where the kernel counts swap.
        self.put("memory", "memory.memsw.limit_in_bytes", memory)
        self.put("pids", "pids.max", processes)

    def put(self, controller: str, file: str, value: int) -> bool:
        """Write a setting; return False if the setting does not exist or is refused."""
        folder = self.folders.get(controller)
        if folder is None or not os.path.exists(f"{folder}/{file}"):
            return False
        try:
            with open(f"{folder}/{file}", "w") as setting:
                setting.write(str(value))
        except OSError:
            return False
        return True

    def enter(self) -> None:
        """Move this process into the groups.

        Raises:
            OSError: the kernel refuses it.
        """
        for folder in set(self.folders.values()):
            with open(f"{folder}/cgroup.procs", "w") as procs:
                procs.write("0")

    def peak(self) -> int:
        """Return the peak memory in bytes; 0 if unknown."""
        for file in ("memory.max_usage_in_bytes", "memory.peak"):
            if text := self.read("memory", file):
                return int(text)
        return 0

    def out_of_memory(self) -> bool:
        """Return whether the kernel killed a process because of the memory limit."""
        for file in ("memory.oom_control", "memory.events"):
            for line in self.read("memory", file).splitlines():
                word, _, number = line.partition(" ")
                if word == "oom_kill" and int(number) > 0:
                    return True
        return False

    def read(self, controller: str, file: str) -> str:
        folder = self.folders.get(controller)
        try:
            with open(f"{folder}/{file}") as setting:
                return setting.read()
        except OSError:
            return ""

    def drop_page_cache(self) -> None:
        """Remove the pages that the group's processes loaded from the page cache.

        Otherwise a later process of the bot could detect which pages an earlier one had read. The
        group must not have processes any more. Version 1 has one file for this. Version 2 reclaims
        a number of bytes, so it is repeated until the group uses none.
        """
        if self.put("memory", "memory.force_empty", 0):
            return
        for _ in range(RECLAIMS):
            usage = self.read("memory", "memory.current")
            if not usage or not int(usage) or not self.put("memory", "memory.reclaim", int(usage)):
                return

    def remove(self) -> None:
        """Kill the remaining processes of the groups and remove the groups."""
        deadline = time.monotonic() + LEAVING
        for folder in set(self.folders.values()):
            empty(folder)
            while not _removed(folder) and time.monotonic() < deadline:
                time.sleep(0.002)
        self.folders.clear()


def parents(root: str = ROOT) -> dict[str, str]:
    """Return the folders in which groups can be created, by controller."""
    try:
        with open("/proc/self/cgroup") as file:
            mine = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return {}
    folders = {}
    for _, controllers, path in mine:
        for controller in controllers.split(","):
            folder = _joined(root, controller, path)
            if controller in FIRST and _is_writable(folder):
                folders[controller] = folder
    if not folders:
        unified = [path for _, controllers, path in mine if not controllers]
        folders = _delegated(root, unified[0]) if unified else {}
    return folders


def _joined(root: str, controller: str, path: str) -> str:
    """Return a group's folder; in a container the path may be the one outside the container."""
    folder = f"{root}/{controller}{path}".rstrip("/")
    return folder if os.path.isdir(folder) else f"{root}/{controller}"


def _delegated(root: str, path: str) -> dict[str, str]:
    """Return the nearest ancestor group (version 2) that delegates its controllers to children.

    The group of this process does not: a group with processes cannot have children with
    controllers.
    """
    while True:
        folder = f"{root}{path}".rstrip("/")
        with contextlib.suppress(OSError):
            with open(f"{folder}/cgroup.subtree_control") as file:
                handed = file.read().split()
            if "memory" in handed and "pids" in handed and _is_writable(folder):
                return {name: folder for name in FIRST if name in handed}
        if path in ("", "/"):
            return {}
        path = os.path.dirname(path)


def _is_writable(folder: str) -> bool:
    return os.access(folder, os.W_OK) and os.access(f"{folder}/cgroup.procs", os.W_OK)


def mine() -> str:
    """Return the name prefix of groups created in this process namespace.

    Process ids in the names of other groups have no meaning in this namespace.
    """
    namespace = os.stat("/proc/self/ns/pid").st_ino
    return f"{PREFIX}{namespace}-"


def sweep(parent: str) -> None:
    """Kill the processes of groups whose init process is gone, and remove the groups."""
    begin = mine()
    with contextlib.suppress(OSError):
        for name in os.listdir(parent):
            init_pid = name.removeprefix(begin).partition("-")[0]
            if name.startswith(begin) and not os.path.exists(f"/proc/{init_pid}"):
                empty(f"{parent}/{name}")
                _removed(f"{parent}/{name}")


def empty(folder: str) -> None:
    """Kill the processes of a group."""
    with contextlib.suppress(OSError):
        with open(f"{folder}/cgroup.procs") as file:
            pids = [int(pid) for pid in file.read().split()]
        for pid in pids:
            # Processes of another namespace have number 0.
            if pid > 0:
                os.kill(pid, 9)


def _removed(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
