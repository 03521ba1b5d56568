"""Test the resources that a sandboxed bot can access, at every level that this machine offers."""

import os
import socket
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from arena.bots import resolver, version_store
from arena.bots.bot import Bot
from arena.bots.build import UNTRUSTED_LIMITS
from arena.bots.exit_report import MIB, Limits, Report
from arena.bots.manifest import Manifest
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels, cgroup, linux
from arena.bots.sandbox.level import Level
from arena.bots.socket_probe import listens
from arena.errors import BotError, InfrastructureError
from tests.errors import has_code
from tests.waiting import wait_until

SMALL = Limits(memory=192 * MIB, processes=32, scratch=4 * MIB, files=100, fsize=2 * MIB)
LOCKED = [Level.BUBBLEWRAP, Level.LANDLOCK]


class SandboxedBot:
    def __init__(self, level: Level, folder: Path) -> None:
        self.level = level
        self.folder = folder
        self.processes = Processes(limits=SMALL, level=level)
        self.address = ""

    def start(self, script: str) -> None:
        (self.folder / "bot.py").write_text(script)
        bot = Bot("bot", Manifest("bot", ("python", "bot.py")), self.folder)
        self.address = self.processes.start(0, bot)

    def run(self, script: str) -> Report:
        before = len(self.processes.ends(0))
        self.start(script)
        wait_until(lambda: len(self.processes.ends(0)) > before)
        return self.processes.ends(0)[-1]

    def tries(self, *actions: str) -> list[str]:
        """Run each statement and return "done" or the class name of its error."""
        lines = ["import ctypes, fcntl, os, socket, sys", "libc = ctypes.CDLL(None)"]
        for action in actions:
            lines += ["try:", f"    {action}", "    print('done')"]
            lines += ["except OSError as error:", "    print(type(error).__name__)"]
        report = self.run("\n".join(lines))
        assert report.ended == "exited with status 0", report.output
        return report.output.splitlines()


def needed(level: Level) -> None:
    """Skip the test on a machine that does not offer the level; in CI, fail instead."""
    offered = available_levels.offer(level)
    if not offered.holds:
        assert "CI" not in os.environ, offered.why_not
        pytest.skip(f"{level}: {offered.why_not}")


@pytest.fixture(params=LOCKED)
def sandboxed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SandboxedBot]:
    needed(request.param)
    bot = SandboxedBot(request.param, tmp_path)
    with bot.processes:
        yield bot


def test_the_selected_sandbox_level_passed_its_probe() -> None:
    assert available_levels.offer(available_levels.best_level()).holds


def test_a_bot_reads_its_own_files_and_cannot_write_them(sandboxed: SandboxedBot) -> None:
    (sandboxed.folder / "data").write_text("mine")
    output = sandboxed.tries("open('data').close()", "open('data', 'a')", "open('new', 'w')")
    assert output[0] == "done"
    assert "done" not in output[1:]
    assert (sandboxed.folder / "data").read_text() == "mine"


def test_a_bot_cannot_see_other_processes_or_their_files(
    sandboxed: SandboxedBot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "secret"
    other.write_text("secret")
    other.chmod(0o644)
    output = sandboxed.tries(
        f"open({str(other)!r})",
        "open('/etc/passwd')",
        f"open({str(Path(__file__))!r})",
        f"open('/proc/{os.getpid()}/environ').read(1)",
    )
    assert "done" not in output


@pytest.mark.parametrize("name", ["meek", "strong"])
def test_house_bots_can_import_their_modules(sandboxed: SandboxedBot, name: str) -> None:
    address = sandboxed.processes.start(0, resolver.sample(name))
    wait_until(lambda: listens(address) or bool(sandboxed.processes.ends(0)))
    assert not sandboxed.processes.ends(0)


def test_scratch_space_is_deleted_with_its_bot(sandboxed: SandboxedBot) -> None:
    assert sandboxed.tries("open(os.environ['TMPDIR'] + '/x', 'w').write('x')") == ["done"]
    assert sandboxed.tries("open(os.environ['TMPDIR'] + '/x')") == ["FileNotFoundError"]


def test_a_bot_cannot_open_network_connections(sandboxed: SandboxedBot, tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
    ):
        abstract.bind("")
        abstract.listen()
        named.bind(str(tmp_path / "s"))
        named.listen()
        output = sandboxed.tries(
            f"socket.create_connection({tcp.getsockname()!r}, 1)",
            f"socket.socket(socket.AF_UNIX).connect({abstract.getsockname()!r})",
            "socket.socket(40, socket.SOCK_STREAM)",
            "socket.socket(16, socket.SOCK_RAW)",
            "socket.getaddrinfo('example.org', 80)",
        )
    assert "done" not in output


def test_system_calls_that_bots_do_not_need_fail(sandboxed: SandboxedBot) -> None:
    calls = [
        "libc.unshare(0x10000000)",
        "libc.ptrace(16, os.getppid(), 0, 0)",
        "libc.mount(b'x', b'/tmp', b'tmpfs', 0, None)",
        "libc.syscall(250, 0, -3, 1)" if os.uname().machine == "x86_64" else "libc.keyctl(0)",
        "libc.syscall(425, 8, None)",
        "libc.inotify_init()",
        "libc.personality(0x40000)",
    ]
    script = "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
    report = sandboxed.run(script + "".join(f"print({call})\n" for call in calls))
    assert report.output.split() == ["-1"] * len(calls)


def test_shared_files_cannot_be_locked_or_watched(sandboxed: SandboxedBot) -> None:
    output = sandboxed.tries(
        "fcntl.flock(os.open(sys.executable, os.O_RDONLY), fcntl.LOCK_SH)",
        "fcntl.lockf(os.open(sys.executable, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)",
        "fcntl.fcntl(os.open('/usr', os.O_RDONLY), fcntl.F_NOTIFY, 1)",
    )
    assert output == ["OSError"] * 3


def test_a_bot_cannot_signal_other_processes(sandboxed: SandboxedBot) -> None:
    assert "done" not in sandboxed.tries(f"os.kill({os.getpid()}, 0)")


def test_bots_started_by_root_run_as_different_users(tmp_path: Path) -> None:
    needed(Level.BUBBLEWRAP)
    if os.geteuid() != 0:
        pytest.skip("only root can make others")
    program = "import os, time\nprint(os.getuid(), flush=True)\ntime.sleep(600)\n"
    (tmp_path / "bot.py").write_text(program)
    bot = Bot("bot", Manifest("bot", ("python", "bot.py")), tmp_path)
    with Processes(level=Level.BUBBLEWRAP) as first, Processes(level=Level.BUBBLEWRAP) as two:
        for processes in (first, two):
            processes.start(0, bot)
            wait_until(lambda: processes.report(0).output)  # noqa: B023
        users = {first.report(0).output, two.report(0).output}
    assert len(users) == 2
    assert "0\n" not in users


def test_a_process_has_the_limits_of_its_bot(sandboxed: SandboxedBot) -> None:
    names = ("NOFILE", "FSIZE", "DATA", "CORE")
    lines = [f"print(*resource.getrlimit(resource.RLIMIT_{name}))" for name in names]
    report = sandboxed.run("\n".join(("import resource", *lines)))
    limits = (SMALL.nofile, SMALL.fsize, SMALL.data, 1)
    assert report.output.splitlines() == [f"{limit} {limit}" for limit in limits]


def test_limits_of_bots_are_the_documented_ones() -> None:
    assert asdict(Limits()) == {
        "nofile": 1024,
        "fsize": 64 * MIB,
        "data": 2048 * MIB,
        "output": 8 * MIB,
        "memory": 1024 * MIB,
        "processes": 256,
        "scratch": 64 * MIB,
        "files": 4096,
        "stop_ms": 250,
    }


def test_limits_of_builds_of_untrusted_bots_are_the_documented_ones() -> None:
    assert asdict(UNTRUSTED_LIMITS) == asdict(Limits()) | {
        "nofile": 4096,
        "fsize": 512 * MIB,
        "data": 8192 * MIB,
        "memory": 3072 * MIB,
        "processes": 512,
        "scratch": 1024 * MIB,
        "files": 20_000,
    }


@pytest.mark.parametrize(
    ("files", "size", "clause"),
    [
        (50, 1_000_000, "wrote more than 4 MiB into its scratch space"),
        (500, 0, "created more than 100 files"),
    ],
)
def test_too_much_scratch_space_or_too_many_files_exceed_the_resource_limit(
    sandboxed: SandboxedBot, files: int, size: int, clause: str
) -> None:
    report = sandboxed.run(
        "import os\n"
        f"for number in range({files}):\n"
        "    with open(os.environ['TMPDIR'] + f'/{number}', 'wb') as file:\n"
        f"        try: file.write(bytes({size}))\n"
        "        except OSError: pass\n"
        "import time; time.sleep(600)"
    )
    assert report.ended == f"was stopped by the arena: {clause}"
    assert report.resources


def test_too_much_memory_exceeds_the_resource_limit(sandboxed: SandboxedBot) -> None:
    if "memory" not in cgroup.parents():
        assert "CI" not in os.environ or os.geteuid() != 0
        pytest.skip("no control groups can be made here")
    report = sandboxed.run("held = [bytearray(8_000_000) for _ in range(100)]")
    assert report.ended == "was stopped by the arena: used more than 192 MiB of memory"
    assert report.resources


def test_a_fork_bomb_fails_and_its_processes_are_killed(sandboxed: SandboxedBot) -> None:
    if os.geteuid() == 0 and "pids" not in cgroup.parents():
        pytest.skip("no control groups can be made here")
    report = sandboxed.run(
        "import os, time\n"
        "for number in range(5000):\n"
        "    try:\n"
        "        if os.fork() == 0: time.sleep(600)\n"
        "    except BlockingIOError: break\n"
        "print(number < 1000)"
    )
    assert report.output == "True\n"


def test_a_sandbox_leaves_nothing_behind(sandboxed: SandboxedBot) -> None:
    sandboxed.start("import time; time.sleep(600)")
    private = Path(sandboxed.address.removeprefix("unix:")).parent
    wait_until(private.exists)
    launcher = sandboxed.processes._launcher.pid
    wait_until(lambda: bool(linux.children(launcher)))
    (init_pid,) = linux.children(launcher)
    wait_until(lambda: bool(groups(init_pid)) or not cgroup.parents())
    sandboxed.processes.close()
    assert not private.exists()
    assert not groups(init_pid)


def groups(init_pid: int) -> list[str]:
    names = [name for parent in cgroup.parents().values() for name in os.listdir(parent)]
    return [name for name in names if name.startswith(f"{cgroup.mine()}{init_pid}-")]


def test_an_untrusted_bot_does_not_run_without_a_sandbox(tmp_path: Path) -> None:
    bot = Bot("stranger", Manifest("stranger", ("true",)), tmp_path, trusted=False)
    refused = pytest.raises(InfrastructureError, check=has_code("no-sandbox"))
    with Processes(level=Level.UNSANDBOXED) as processes, refused:
        processes.start(0, bot)


def stranger(directory: Path, lines: str = "") -> Bot:
    """Write an untrusted bot with these lines in its manifest."""
    folder = directory / "bot"
    folder.mkdir()
    text = f'name = "stranger"\nrun = ["python", "bot.py"]\n{lines}'
    (folder / "bot.toml").write_text(text)
    return replace(resolver.local(folder), trusted=False)


BUILD = """
import fcntl, os, socket
with open("locked", "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
open("made", "w").write(str(os.path.exists({secret!r})))
try:
    socket.create_connection(("127.0.0.1", {port}), 1)
    print("connected")
except OSError:
    open("offline", "w").close()
"""


@pytest.mark.parametrize("level", LOCKED)
def test_an_untrusted_bot_is_built_in_a_sandbox(
    level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed(level)
    monkeypatch.setenv("POKEARENA_SANDBOX", level)
    secret = tmp_path / "arena.db"
    secret.write_text("secret")
    bot = stranger(tmp_path, 'build = ["python", "build.py"]')
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = BUILD.format(secret=str(secret), port=port)
        (tmp_path / "bot" / "build.py").write_text(script)
        kept = version_store.admit(bot, tmp_path / "versions")
    assert kept.folder is not None
    assert (kept.folder / "offline").exists()
    has_view = level is Level.BUBBLEWRAP or available_levels.has_disk(level)
    assert (kept.folder / "made").read_text() == str(not has_view)
    assert (kept.folder / "made").stat().st_uid == os.geteuid()


def test_trust_is_stored_per_content_hash(tmp_path: Path) -> None:
    needed(Level.BUBBLEWRAP)
    bot = stranger(tmp_path)
    versions = tmp_path / "versions"
    kept = version_store.admit(bot, versions)
    assert kept.folder is not None
    assert not kept.trusted
    assert not resolver.from_folder(kept.folder, "stranger@1", kept.content).trusted
    assert version_store.admit(replace(bot, trusted=True), versions).trusted
    assert resolver.from_folder(kept.folder, "stranger@1", kept.content).trusted


def test_a_failed_build_in_a_sandbox_reports_its_output(tmp_path: Path) -> None:
    needed(Level.BUBBLEWRAP)
    bot = stranger(tmp_path, 'build = ["sh", "-c", "echo oh no; exit 3"]')
    with pytest.raises(BotError, match=r"exited with status 3 and wrote:\noh no"):
        version_store.admit(bot, tmp_path / "versions")


def test_a_bot_has_a_private_file_system_if_the_machine_allows_it(tmp_path: Path) -> None:
    needed(Level.BUBBLEWRAP)
    assert available_levels.has_disk(Level.BUBBLEWRAP)
    assert not available_levels.has_disk(Level.UNSANDBOXED)
    sandboxed = SandboxedBot(Level.BUBBLEWRAP, tmp_path)
    with sandboxed.processes:
        report = sandboxed.run(
            "import os\n"
            "for _ in range(8):\n"
            "    file = os.open(os.environ['TMPDIR'], os.O_TMPFILE | os.O_RDWR)\n"
            "    os.write(file, bytes(1 << 20))\n"
            "import time; time.sleep(600)"
        )
    assert report.ended == "was stopped by the arena: wrote more than 4 MiB into its scratch space"
    # No mount is visible outside of the bot's namespace. Other processes mount things too.
    private = Path(sandboxed.address.removeprefix("unix:")).parent.name
    assert private not in Path("/proc/self/mountinfo").read_text()
