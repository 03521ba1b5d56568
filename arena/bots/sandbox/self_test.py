"""Self-test of a sandbox level: run a program that tries to escape from it."""

import os
import tempfile
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.bots.manifest import Manifest
from arena.bots.sandbox.level import Level
from arena.system import file_tree
from arena.system.temporary_folder import PREFIX, temporary_folder

SELF_TEST_SECONDS: Final = 20.0
"""Time limit of the self-test in seconds, sufficient for a busy machine."""
DONE: Final = "tried everything"
PROGRAM: Final = """
import ctypes, errno, os, sys
import _socket as socket

libc = ctypes.CDLL(None, use_errno=True)

def tried(what):
    def run(action):
        try:
            did = action()
        except (OSError, ValueError):
            return
        if did is not False:
            print("it could " + what)
    return run

# The first check, because a new user namespace would change the ids.
@tried("run as root")
def _():
    return {is_root} and 0 in (os.getuid(), os.geteuid(), os.getgid())

@tried("read a file of the arena")
def _():
    open({secret!r}).close()

@tried("write beside its own files")
def _():
    open(os.path.join({folder!r}, "new"), "w").close()

@tried("write outside its scratch space")
def _():
    open("/usr/.pokearena", "w").close()
    os.unlink("/usr/.pokearena")

@tried("see the environment of another process")
def _():
    return any(b"=" in open("/proc/" + str(pid) + "/environ", "rb").read()
               for pid in (1, {owner}, os.getppid()))

@tried("signal the arena")
def _():
    os.kill({owner}, 0)

@tried("reach the network")
def _():
    with_port = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with_port.settimeout(2)
    with_port.connect(("127.0.0.1", {port}))

@tried("reach an abstract socket")
def _():
    abstract = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    abstract.connect({abstract!r})

@tried("make a socket of the kernel")
def _():
    socket.socket(16, socket.SOCK_RAW, 0)

@tried("make a namespace")
def _():
    return libc.unshare(0x10000000) == 0

@tried("trace processes")
def _():
    return libc.ptrace(0, 0, 0, 0) == 0

@tried("lock a file that others see")
def _():
    import fcntl
    fcntl.flock(os.open("/usr", os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)

@tried("do what only root may")
def _():
    status = open("/proc/self/status").read()
    return int(status.split("CapEff:")[1].split()[0], 16) != 0

@tried("set the memory policy")
def _():
    return libc.syscall({mbind}, None, 0, 0, None, 0, 0) == 0

@tried("see the folder of a file of the arena")
def _():
    return {hides_files} and os.stat(os.path.dirname({secret!r})) is not None

for counters in {counters!r}:
    @tried("read counters of the machine in " + counters)
    def _():
        return open(counters, "rb").read(1) != b""

open(os.path.join(os.environ["TMPDIR"], "scratch"), "w").close()
print({done!r})
"""


COUNTERS: Final = (
    *("/proc/vmstat", "/proc/zoneinfo", "/proc/interrupts", "/proc/softirqs", "/proc/diskstats"),
    *("/proc/sys/fs/file-nr", "/proc/sys/fs/dentry-state", "/proc/sys/fs/inode-state"),
)
"""Files with counters of the whole machine, which only a mount namespace can hide.

Those in /proc/self/net remain readable; a bot without internet sockets cannot move them.
"""
_MBIND: Final = {"x86_64": 237, "aarch64": 235}


class Outcome(StrEnum):
    """How a self-test ended."""

    PASSED = "passed"
    BUSY = "busy"
    """It did not finish within the time limit; it may pass when the machine has more time."""
    ESCAPED = "escaped"
    """A forbidden action succeeded."""
    NOT_STARTED = "not-started"
    """The program did not run to its end, for example because the sandbox could not start it."""


@dataclass(frozen=True, slots=True)
class SelfTest:
    """Result of a self-test: its outcome, a clause about a failure, and the output."""

    outcome: Outcome
    why_not: str = ""
    output: str = ""


def run_self_test(level: Level, seconds: float = SELF_TEST_SECONDS) -> SelfTest:
    """Run the self-test of a level.

    Raises:
        InfrastructureError: the sandbox launcher could not start the program.
    """
    import socket

    with (
        temporary_folder(Path(tempfile.gettempdir()), PREFIX) as name,
        socket.create_server(("127.0.0.1", 0)) as port,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        # The kernel chooses a name if it is empty.
        abstract.bind("")
        abstract.listen()
        bot, secret = name / "bot", name / "arena" / "secret"
        os.chmod(name, 0o755)
        bot.mkdir()
        secret.parent.mkdir()
        secret.write_text("secret")
        os.chmod(secret, 0o644)
        program = PROGRAM.format(
            secret=str(secret),
            folder=str(bot),
            owner=os.getpid(),
            port=port.getsockname()[1],
            abstract=abstract.getsockname(),
            is_root=os.geteuid() == 0,
            mbind=_MBIND.get(os.uname().machine, -1),
            hides_files=level.keeps_tables_apart,
            counters=COUNTERS if level.keeps_tables_apart else (),
            done=DONE,
        )
        (bot / "bot.py").write_text(program)
        # The umask may be 077, and the bot runs as another user.
        file_tree.let_all_read(bot)
        return _run(level, bot, seconds)


def _run(level: Level, folder: Path, seconds: float) -> SelfTest:
    from arena.bots.processes import Processes

    ended = threading.Event()
    lost: list[str] = []

    def on_lost(sentence: str) -> None:
        lost.append(sentence)
        ended.set()

    manifest = Manifest("self-test", ("python", "-I", "-S", "bot.py"))
    with Processes(lambda report: ended.set(), on_lost, level=level) as processes:
        processes.start(0, Bot("self-test", manifest, folder))
        if not ended.wait(seconds):
            return SelfTest(Outcome.BUSY, f"it did not finish within {seconds:g} s")
        if lost:
            return SelfTest(Outcome.NOT_STARTED, lost[0].rstrip("."))
        return _result(processes.ends(0)[0])


def _result(report: Report) -> SelfTest:
    lines = report.output.strip().splitlines()
    if report.ended == "exited with status 0" and lines == [DONE]:
        return SelfTest(Outcome.PASSED)
    if lines[-1:] == [DONE]:
        escapes = ", ".join(lines[:-1])
        return SelfTest(Outcome.ESCAPED, f"a bot escaped from the sandbox: {escapes}")
    output = f"; its output: {' '.join(lines)[-500:]}" if lines else ""
    why_not = f"the self-test {report.ended}{output}"
    return SelfTest(Outcome.NOT_STARTED, why_not, report.output.strip())
