"""Test that the death of a process of the arena is an arena failure, never a fault of the bot."""

import os
import signal
from pathlib import Path

import pytest

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.bots.manifest import Manifest
from arena.bots.processes import Processes
from arena.bots.sandbox import linux
from arena.bots.sandbox.level import Level
from arena.errors import InfrastructureError
from tests.arena.bots.sandbox.test_sandbox import LOCKED, needed
from tests.waiting import wait_until

SECONDS = 30.0
LISTENS = """
import os, socket, time
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["POKEARENA_ADDRESS"].removeprefix("unix:"))
server.listen()
time.sleep(600)
"""


def launcher_of(processes: Processes) -> int:
    return processes._launcher.pid


def init_process_of(processes: Processes) -> int:
    wait_until(lambda: linux.children(launcher_of(processes)))
    return linux.children(launcher_of(processes))[0]


def sandbox_of(processes: Processes) -> int:
    """Return the process id of the outer bubblewrap process."""
    init_pid = init_process_of(processes)
    wait_until(lambda: [pid for pid in linux.children(init_pid) if program(pid) == "bwrap"])
    return next(pid for pid in linux.children(init_pid) if program(pid) == "bwrap")


def program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


VICTIMS = {"launcher": launcher_of, "init process": init_process_of, "sandbox": sandbox_of}


@pytest.mark.parametrize("stage", ["starting", "listening"])
@pytest.mark.parametrize(
    ("level", "victim"),
    [(level, victim) for level in LOCKED for victim in VICTIMS if victim != "sandbox"]
    + [(Level.BUBBLEWRAP, "sandbox")],
)
def test_a_killed_process_of_the_arena_is_not_charged_to_the_bot(
    level: Level, victim: str, stage: str, tmp_path: Path
) -> None:
    needed(level)
    (tmp_path / "bot.py").write_text(LISTENS)
    tmp_path.chmod(0o755)
    charged: list[Report] = []
    lost: list[str] = []
    with Processes(charged.append, lost.append, level=level) as processes:
        address = processes.start(0, Bot("bot", Manifest("bot", ("python", "bot.py")), tmp_path))
        if stage == "listening":
            wait_until(Path(address.removeprefix("unix:")).exists)
        os.kill(VICTIMS[victim](processes), signal.SIGKILL)
        wait_until(lambda: lost or charged)
        assert lost
        assert not charged
        with pytest.raises(InfrastructureError):
            processes.report(0)


def test_a_bot_that_kills_itself_is_charged(tmp_path: Path) -> None:
    needed(Level.BUBBLEWRAP)
    (tmp_path / "bot.py").write_text("import os; os.kill(os.getpid(), 9)")
    charged: list[Report] = []
    lost: list[str] = []
    with Processes(charged.append, lost.append, level=Level.BUBBLEWRAP) as processes:
        processes.start(0, Bot("bot", Manifest("bot", ("python", "bot.py")), tmp_path))
        wait_until(lambda: lost or charged)
    assert [report.signal for report in charged] == ["SIGKILL"]
    assert not lost
