"""Find the isolation levels of this machine: run a program that tries to escape from each.

Results are cached in this process and its forks, so a worker tests each level once.
"""

import os
import sys
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from arena.bots.bot import Bot
from arena.bots.exit_report import Report
from arena.bots.manifest import Manifest
from arena.bots.sandbox import landlock
from arena.bots.sandbox.level import INSTALL, SETTING, Level, bubblewrap
from arena.errors import InfrastructureError
from arena.system import file_tree

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

open(os.path.join(os.environ["TMPDIR"], "scratch"), "w").close()
print({done!r})
"""


def escapes(level: Level) -> str:
    """Return the forbidden actions that a bot can do at this level, as a clause; empty if none.

    Raises:
        InfrastructureError: the self-test could not run.
    """
    import socket

    from arena.bots.processes import Processes

    with (
        tempfile.TemporaryDirectory(prefix="pokearena-try-") as name,
        socket.create_server(("127.0.0.1", 0)) as port,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        # The kernel chooses a name if it is empty.
        abstract.bind("")
        abstract.listen()
        bot, secret = Path(name) / "bot", Path(name) / "secret"
        os.chmod(name, 0o755)
        bot.mkdir()
        secret.write_text("secret")
        os.chmod(secret, 0o644)
        program = PROGRAM.format(
            secret=str(secret),
            folder=str(bot),
            owner=os.getpid(),
            port=port.getsockname()[1],
            abstract=abstract.getsockname(),
            done=DONE,
        )
        (bot / "bot.py").write_text(program)
        # The umask may be 077, and the bot runs as another user.
        file_tree.let_all_read(bot)
        manifest = Manifest("self-test", ("python", "-I", "-S", "bot.py"))
        ended = threading.Event()
        with Processes(lambda report: ended.set(), level=level) as processes:
            processes.start(0, Bot("self-test", manifest, bot))
            if not ended.wait(SELF_TEST_SECONDS):
                return f"the self-test took longer than {SELF_TEST_SECONDS:.0f} s"
            return _escaped(processes.ends(0)[0])


def _escaped(report: Report) -> str:
    lines = report.output.strip().splitlines()
    if report.ended == "exited with status 0" and lines == [DONE]:
        return ""
    if lines[-1:] == [DONE]:
        return f"a bot escaped from the sandbox: {', '.join(lines[:-1])}"
    output = f"; its output: {' '.join(lines)[-500:]}" if lines else ""
    return f"the self-test {report.ended}{output}"


@dataclass(frozen=True, slots=True)
class Offer:
    """Availability of a level on this machine, with the reason and a remedy if it is missing."""

    level: Level
    why_not: str = ""
    fix: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the level is available and passed the self-test."""
        return not self.why_not


@cache
def offer(level: Level) -> Offer:
    """Test a level; the first test takes some tenths of a second."""

    if level is Level.UNSANDBOXED:
        return Offer(level)
    if sys.platform != "linux":
        return Offer(level, "there are sandboxes on Linux only", "use Linux")
    if level is Level.BUBBLEWRAP:
        if bubblewrap() is None:
            return Offer(level, "bubblewrap is not installed", INSTALL)
        if os.geteuid() == 0 and not os.path.exists("/usr/bin/setpriv"):
            return Offer(level, "setpriv is not installed", "apt install util-linux")
    if level is Level.LANDLOCK and landlock.version() == 0:
        return Offer(level, "the kernel has no Landlock", "use Linux 6.12 or later")
    try:
        escaped = escapes(level)
    except InfrastructureError as error:
        return Offer(level, str(error))
    return Offer(level, escaped)


@cache
def has_disk(level: Level) -> bool:
    """Return whether bots of a level get a separate file system for the data they write.

    Without one, only files with names count towards the limit
    (docs/explanation/containment.md). The test mounts in a child process, so the mounts end with
    it.
    """
    import tempfile

    from arena.bots.sandbox import memory_disk

    if level is Level.UNSANDBOXED:
        return False
    with tempfile.TemporaryDirectory(prefix="pokearena-try-") as name:
        directory = os.path.join(name, "socket")
        os.mkdir(directory)
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(0 if memory_disk.Disk(directory, memory_disk.PAGE, 16).mount(None) else 1)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        memory_disk.remove_places(directory)
    return status == 0


@cache
def best_level() -> Level:
    """Return the best level of this machine, or the one set in the environment.

    Raises:
        InfrastructureError: the level set is not available; the text gives the reason.
    """
    named = os.environ.get(SETTING)
    if named is None:
        return next(level for level in Level if offer(level).holds)
    try:
        level = Level(named)
    except ValueError:
        raise InfrastructureError(
            f'{SETTING} is "{named}"; it must be one of {", ".join(Level)}.', code="unknown-level"
        ) from None
    offered = offer(level)
    if not offered.holds:
        hint = f" ({offered.fix})" if offered.fix else ""
        raise InfrastructureError(
            f"{SETTING} is {level}, which this machine does not offer: {offered.why_not}{hint}.",
            code="level-not-available",
        )
    return level
