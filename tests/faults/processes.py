"""Find the processes of an arena by their role, and send signals to them."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from arena.bots.sandbox import linux

BELOW = {"worker": "horse", "horse": "keeper", "keeper": "guard", "guard": "bot"}
SERVICES = {"arena.web": "web", "arena.submissions": "submissions", "arena.remote.relay": "relay"}


def family(pid: int) -> list[int]:
    """Return the descendants of a process, each before its own descendants."""
    pids = []
    for child in linux.children(pid):
        pids += [child, *family(child)]
    return pids


def above(pid: int, top: int) -> list[int]:
    """Return the processes between `top` and one of its descendants, the highest first.

    The list is empty if the process is not below `top` any more.
    """
    line: list[int] = []
    while (pid := linux.parent(str(pid))) not in (0, top):
        line.insert(0, pid)
    return line if pid == top else []


def words(pid: int) -> list[str]:
    """Return the command line of a process; empty if the process has exited."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    return []


def roles(serve: int) -> Iterator[tuple[str, int]]:
    """Yield the role and the process id of every process of `pokearena serve`.

    The roles are redis, referee, web, submissions, relay, worker, horse, keeper, guard and bot.
    """
    for child in linux.children(serve):
        line = words(child)
        if any("parent_death_signal.py" in word for word in line):
            continue
        if any("valkey" in word or "redis-server" in word for word in line[:1]):
            yield "redis", child
        elif "referee" in line and any("worker-" in word for word in line):
            yield "referee", child
        elif service := next((SERVICES[word] for word in line if word in SERVICES), ""):
            yield service, child
        elif "arena.services.worker_process" in line:
            yield "worker", child
            yield from _below(child, "worker")


def _below(pid: int, role: str) -> Iterator[tuple[str, int]]:
    if role in BELOW:
        for child in linux.children(pid):
            yield BELOW[role], child
            yield from _below(child, BELOW[role])


def owner(worker: int) -> str:
    """Return the name of a worker in the store. Its work horse has the same command line."""
    line = words(worker)
    return line[line.index("--name") + 1] if "--name" in line else ""


def send(pid: int, number: int) -> bool:
    """Send a signal; return False if the process does not exist any more."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


@contextlib.contextmanager
def orphanage(spared: Callable[[], Collection[int]] = tuple) -> Iterator[None]:
    """Adopt orphaned descendants during the block, and fail if one still runs at its end.

    Args:
        spared: returns the ids of processes that may remain.
    """
    before = set(linux.children(os.getpid()))
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 0)
    left: list[int] = []
    # The process pool of the checker leaves one process, which exits with this one.
    tracker = "multiprocessing.resource_tracker"
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        ours = set(linux.children(os.getpid())) - before - set(spared())
        left = [p for p in ours if not _reaped(p) and tracker not in " ".join(words(p))]
        if not left:
            return
        time.sleep(0.05)
    commands = [" ".join(words(pid)) for pid in left]
    for pid in left:
        send(pid, signal.SIGKILL)
    raise AssertionError(f"processes are left behind: {commands}")


def _reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True
