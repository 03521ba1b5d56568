"""Test that every wait for a sandboxed program ends at once when its launcher is killed."""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pokearena.v1 import bot_pb2

from arena.bots import resolver
from arena.bots.bot_session import BotSession
from arena.bots.build import build
from arena.bots.manifest import Manifest
from arena.bots.sandbox import linux
from arena.errors import InfrastructureError
from tests.errors import has_code
from tests.waiting import wait_until

SLEEPS = ("sh", "-c", "touch begun; exec sleep 600")


def launchers() -> set[int]:
    return {pid for pid in linux.children(os.getpid()) if b"sandbox.launcher" in command_line(pid)}


def command_line(pid: int) -> bytes:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def build_that_sleeps(folder: Path) -> None:
    build(Manifest("slow", ("true",), build=(SLEEPS,)), folder, trusted=False)


def bot_that_does_not_listen(folder: Path) -> None:
    (folder / "bot.toml").write_text('name = "slow"\nrun = ["sleep", "600"]\n')
    bot = resolver.from_folder(folder)
    with BotSession(bot, bot_pb2.StartRequest(), start=600.0, patience=600.0):
        pass


@pytest.mark.parametrize("waits", [build_that_sleeps, bot_that_does_not_listen])
def test_a_killed_launcher_is_an_infrastructure_fault_at_once(
    waits: Callable[[Path], None], tmp_path: Path, strangers_accepted: None
) -> None:
    tmp_path.chmod(0o777)
    before = launchers()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(waits, tmp_path)
        wait_until(lambda: launchers() - before)
        for pid in launchers() - before:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(InfrastructureError, check=has_code("launcher-lost")):
            waiting.result()
