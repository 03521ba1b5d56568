"""Test that a child process with a parent-death signal dies with the process that started it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.system import parent_death_signal
from tests.waiting import has_exited, wait_until

OWNER = """
import subprocess, sys, time
from arena.system import parent_death_signal
command = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen({start})
print(child.pid, flush=True)
time.sleep(60)
"""
EXECUTED = OWNER.format(start="parent_death_signal.killed_with_parent(command)")
WATCHED = OWNER.format(
    start="""[sys.executable, "-c",
    "import os, sys; from arena.system.parent_death_signal import watch; "
    "watch(int(sys.argv[1]), sys.argv[2:])",
    str(__import__("os").getpid()), *command]"""
)


def children(pid: int) -> list[int]:
    """Return the children of process `pid`."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("owner", [EXECUTED, WATCHED], ids=["held by the kernel", "watched"])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_child_is_killed_with_its_parent(owner: str) -> None:
    with subprocess.Popen([sys.executable, "-c", owner], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        program = int(parent.stdout.readline())
        wait_until(lambda: owner is EXECUTED or children(program))
        kept = [program, *children(program)]
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: all(map(has_exited, kept)))


def test_a_command_of_an_exited_parent_does_not_start(tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    code = f"open({str(proof)!r}, 'w')"
    gone = os.getpid() + 1_000_000
    command = [sys.executable, parent_death_signal.__file__, str(gone), sys.executable, "-c", code]
    ended = subprocess.run(command, check=False)
    assert ended.returncode == 1
    assert not proof.exists()


def test_a_watched_child_gets_the_signals_of_its_wrapper() -> None:
    code = (
        "import os, sys; from arena.system import parent_death_signal;"
        "sys.exit(parent_death_signal.watch(os.getppid(), sys.argv[1:]) == -15)"
    )
    sleeper = "import time; print('ready', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", code, sys.executable, "-c", sleeper]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as watcher:
        assert watcher.stdout is not None
        watcher.stdout.readline()
        watcher.send_signal(signal.SIGTERM)
    assert watcher.returncode == 1
