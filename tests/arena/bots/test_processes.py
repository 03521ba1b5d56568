"""Test the processes of a table's bots: environment, reports, limits, and cleanup."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import arena
from arena.bots.bot import Bot
from arena.bots.exit_report import Limits, Report
from arena.bots.manifest import Manifest
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels
from arena.bots.sandbox.level import Level
from arena.errors import InfrastructureError
from referee.sanitizing import sanitized
from tests.arena.bots.sandbox import fake_bubblewrap
from tests.arena.bots.sandbox.fake_bubblewrap import FakeBubblewrap
from tests.arena.bots.sandbox.test_sandbox import needed
from tests.errors import has_code
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

SLEEPER = "exec sleep 600"
# A bot may write to the directory of its socket.
THERE = 'cd "$(dirname "${POKEARENA_ADDRESS#unix:}")"; '
PYTHON_THERE = "import os; os.chdir(os.path.dirname(os.environ['POKEARENA_ADDRESS'][5:]))\n"
# Leaves a child in its own session, and an orphaned grandchild in another session.
DAEMONS = f"""{PYTHON_THERE}
import time
for name in ("child", "orphan"):
    if os.fork() == 0:
        if name == "orphan":
            os.setsid()
            if os.fork():
                os._exit(0)
        open(name, "w").close()
        time.sleep(600)
while not (os.path.exists("child") and os.path.exists("orphan")):
    time.sleep(0.001)
"""


class ProcessTable:
    def __init__(
        self, folder: Path, limits: Limits | None = None, level: Level | None = None
    ) -> None:
        self.folder = folder
        self.ended: list[Report] = []
        self.lost: list[str] = []
        self.processes = Processes(
            self.ended.append,
            self.lost.append,
            limits,
            level=level or available_levels.best_level(),
        )

    def shell(self, script: str, seat: int = 0) -> str:
        return self.start(("sh", "-c", script), seat)

    def python(self, script: str, seat: int = 0) -> str:
        (self.folder / "bot.py").write_text(script)
        return self.start(("python", "bot.py"), seat)

    def start(self, run: tuple[str, ...], seat: int = 0) -> str:
        return self.processes.start(seat, Bot("bot", Manifest("bot", run), self.folder))

    def end(self, seat: int = 0) -> Report:
        wait_until(lambda: bool(self.processes.ends(seat)))
        return self.processes.ends(seat)[-1]

    def wrote(self, address: str, *names: str) -> None:
        for name in names:
            wait_until((directory(address) / name).exists)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[ProcessTable]:
    table = ProcessTable(tmp_path)
    with table.processes:
        yield table


@pytest.fixture
def open_table(tmp_path: Path) -> Iterator[ProcessTable]:
    """Yield a table with unsandboxed bots, which can access the machine."""
    table = ProcessTable(tmp_path, level=Level.UNSANDBOXED)
    with table.processes:
        yield table


def directory(address: str) -> Path:
    return Path(address.removeprefix("unix:")).parent


def living(address: str) -> list[int]:
    """Return the process ids whose environment contains this address."""
    pids = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if f"POKEARENA_ADDRESS={address}".encode() in environment.split(b"\0"):
            pids.append(int(pid))
    return pids


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_environment_of_a_bot_has_its_address_and_common_variables(
    table: ProcessTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_DATABASE_URL", "postgresql://secret")
    address = table.python("import os; print(*sorted(os.environ), os.environ['POKEARENA_ADDRESS'])")
    names, _, process_id = table.end().output.strip().rpartition(" ")
    assert process_id == address
    # Bubblewrap also sets PWD, as a shell does.
    assert set(names.split()) - {"PWD", "LC_CTYPE"} == {
        *("POKEARENA_ADDRESS", "PATH", "HOME", "TMPDIR", "LANG")
    }


def test_an_unsandboxed_bot_gets_only_its_address_in_its_environment(
    open_table: ProcessTable,
) -> None:
    address = open_table.python("print(open('/proc/self/environ').read(), end='')")
    # The output shows the terminating zero byte as an escape sequence.
    assert open_table.end().output == f"POKEARENA_ADDRESS={address}\\x00"


def test_parents_of_a_bot_do_not_expose_the_arena_environment(
    open_table: ProcessTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_DATABASE_URL", "postgresql://secret")
    open_table.python("""if True:
        import os
        parent = os.getppid()
        print(repr(open(f"/proc/{parent}/environ").read()))
        stat = open(f"/proc/{parent}/stat").read()
        print(repr(open(f"/proc/{stat.rpartition(')')[2].split()[1]}/environ").read()))
    """)
    assert open_table.end().output == "''\n''\n"


def test_a_bot_runs_in_its_folder_and_inherits_no_descriptor(table: ProcessTable) -> None:
    table.python("import os; print(os.getcwd(), sorted(map(int, os.listdir('/proc/self/fd')))[:3])")
    assert table.end().output == f"{table.folder} [0, 1, 2]\n"
    table.python("import os; print([f for f in range(3, 1024) if os.path.exists(f'/dev/fd/{f}')])")
    wait_until(lambda: len(table.processes.ends(0)) == 2)
    assert table.processes.ends(0)[1].output == "[]\n"


def test_python_is_the_interpreter_of_the_arena(table: ProcessTable) -> None:
    table.python("import sys; print(sys.executable)")
    assert table.end().output == f"{sys.executable}\n"


def test_python_is_the_interpreter_of_the_folder_if_present(table: ProcessTable) -> None:
    interpreter = table.folder / ".venv" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text("#!/bin/sh\necho my own\n")
    interpreter.chmod(0o755)
    table.python("")
    assert table.end().output == "my own\n"


def test_every_process_gets_its_own_private_directory(table: ProcessTable) -> None:
    addresses = [table.shell(SLEEPER, seat) for seat in (0, 1, 0)]
    directories = [directory(address) for address in addresses]
    assert len(set(directories)) == 3
    for private in directories:
        wait_until(private.exists)
        assert private.stat().st_mode & 0o777 == 0o700
    table.processes.close()
    assert not any(private.exists() for private in directories)


def test_the_exit_of_a_process_is_reported_at_once(table: ProcessTable) -> None:
    table.shell("echo out; echo err >&2; exit 3", seat=1)
    report = table.end(seat=1)
    without_memory = replace(report, peak_memory=0)
    assert without_memory == Report(1, "exited with status 3", False, "out\nerr\n", status=3)
    assert table.ended == [report]


def test_peak_memory_is_reported_during_the_run_and_after_exit(
    table: ProcessTable,
) -> None:
    address = table.python(
        PYTHON_THERE
        + """if True:
        import subprocess, sys, time
        size = 64 << 20
        subprocess.run([sys.executable, "-c", f"held = b'x' * {size}"])
        open("ready", "w").close()
        time.sleep(60)
    """
    )
    table.wrote(address, "ready")
    # The child that held the memory has exited; a running bot's report counts living processes
    # only.
    assert 2 << 20 < table.processes.report(0).peak_memory < 64 << 20
    table.processes.stop(0)
    assert 64 << 20 < table.processes.ends(0)[0].peak_memory < 128 << 20


def test_the_report_of_a_killed_process_has_its_signal(table: ProcessTable) -> None:
    table.shell("kill -SEGV $$")
    report = table.end()
    assert (report.ended, report.signal, report.status) == (
        "was killed by SIGSEGV",
        "SIGSEGV",
        None,
    )


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (("./bot",), "could not be started: ./bot: No such file or directory"),
        (("./notes",), "could not be started: ./notes: Permission denied"),
        (
            ("notes",),
            'could not be started: the program "notes" is not on the PATH of the arena; for the '
            'file of this name in the folder write "./notes"',
        ),
    ],
)
def test_a_program_that_cannot_be_started_is_reported_as_an_exit(
    table: ProcessTable, run: tuple[str, ...], why: str
) -> None:
    (table.folder / "notes").write_text("")
    address = table.start(run)
    assert table.end().ended == why
    assert table.ended == [table.end()]
    assert not Path(address.removeprefix("unix:")).exists()


def test_a_program_with_an_overlong_name_is_reported_as_an_exit(table: ProcessTable) -> None:
    table.start(("./a\nb" + "c" * 100_000,))
    assert table.end().ended.startswith("could not be started: ./a b")


def test_output_of_a_running_process_can_be_read(table: ProcessTable) -> None:
    table.wrote(table.shell(f"{THERE} echo thinking; touch written; {SLEEPER}"), "written")
    assert replace(table.processes.report(0), peak_memory=0) == Report(0, output="thinking\n")


def test_a_pending_exit_is_awaited(table: ProcessTable) -> None:
    table.shell("sleep 0.2; exit 7")
    assert table.processes.report(0, patience=60).ended == "exited with status 7"


def test_the_exit_of_a_bot_that_its_sandbox_has_collected_is_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed(Level.BUBBLEWRAP)
    bubblewrap = FakeBubblewrap(tmp_path)
    bubblewrap.behave(fake_bubblewrap.LINGERS)
    monkeypatch.setattr("arena.bots.processes.bubblewrap", lambda: str(bubblewrap.program))
    monkeypatch.setattr("arena.bots.processes.ENDING_SECONDS", 60.0)
    script = "import os; open('pid', 'w').write(str(os.getpid())); os._exit(5)"
    (tmp_path / "bot.py").write_text(script)
    bot = Bot("bot", Manifest("bot", ("python", "bot.py")), tmp_path)
    with Processes(level=Level.BUBBLEWRAP) as processes:
        processes.start(0, bot)
        wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        process = (tmp_path / "pid").read_text()
        wait_until(lambda: not Path(f"/proc/{process}").exists())
        assert processes.report(0, patience=0).ended == "exited with status 5"


def test_a_flood_of_output_stops_the_bot_and_keeps_head_and_tail(
    tmp_path: Path,
) -> None:
    table = ProcessTable(tmp_path, Limits(output=1024 * 1024))
    with table.processes:
        table.shell("echo first; while :; do echo again and again; done")
        report = table.end()
        assert report.ended == "was stopped by the arena: wrote more than 1 MiB of output"
        assert report.resources
        assert report.output.startswith("first\nagain and again\n")
        assert "bytes are omitted here]" in report.output
        assert len(report.output) < 70_000


def test_the_limit_of_output_counts_all_processes_of_a_seat(tmp_path: Path) -> None:
    table = ProcessTable(tmp_path, Limits(output=1024 * 1024))
    half = "head -c 600000 /dev/zero | tr '\\0' x"
    with table.processes:
        table.shell(half)
        assert table.end().ended == "exited with status 0"
        table.shell(half, seat=1)
        assert table.end(seat=1).ended == "exited with status 0"
        table.shell(half)
        wait_until(lambda: len(table.processes.ends(0)) == 2)
        assert table.processes.ends(0)[1].resources


def test_a_bot_that_writes_too_large_a_file_is_stopped(tmp_path: Path) -> None:
    table = ProcessTable(tmp_path, Limits(fsize=1024 * 1024))
    with table.processes:
        table.shell(f"{THERE} exec head -c 2000000 /dev/zero > big")
        report = table.end()
        assert report.ended == "was stopped by the arena: wrote more than 1 MiB into a file"
        assert report.resources


def test_a_bot_cannot_have_more_memory_than_its_limit(tmp_path: Path) -> None:
    table = ProcessTable(tmp_path, Limits(data=256 * 1024 * 1024))
    with table.processes:
        table.python("block = bytearray(512 * 1024 * 1024)")
        report = table.end()
        assert report.ended == "exited with status 1"
        assert "MemoryError" in report.output


def test_a_process_gets_sigterm_before_sigkill(tmp_path: Path) -> None:
    table = ProcessTable(tmp_path, Limits(stop_ms=60_000))
    with table.processes:
        # Python runs the handler between two steps: a signal before one long wait could be missed.
        address = table.python(
            f"{PYTHON_THERE}import signal, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('bye')))\n"
            "open('ready', 'w').close()\n"
            "while True: time.sleep(0.01)\n"
        )
        table.wrote(address, "ready")
        table.processes.stop(0)
        (report,) = table.processes.ends(0)
    without_memory = replace(report, peak_memory=0)
    assert without_memory == Report(0, "exited with status 0", False, "bye\n", status=0)


def test_a_bot_that_ignores_sigterm_is_killed(table: ProcessTable) -> None:
    ready = f"{THERE} trap '' TERM; touch ready; while :; do sleep 0.01; done"
    table.wrote(table.shell(ready), "ready")
    table.processes.stop(0)
    assert table.processes.ends(0)[0].ended == "was killed by SIGKILL"


def test_a_requested_stop_is_not_reported(table: ProcessTable) -> None:
    table.shell(SLEEPER)
    table.processes.stop(0)
    assert table.ended == []


def test_stopping_a_seat_kills_only_its_own_descendants(table: ProcessTable) -> None:
    other = table.shell(f"{THERE} touch ready; {SLEEPER}", seat=1)
    address = table.python(DAEMONS + "time.sleep(600)")
    table.wrote(other, "ready")
    table.wrote(address, "child", "orphan")
    # The parent of the orphan may still be running.
    wait_until(lambda: len(living(address)) == 3)
    table.processes.stop(0)
    assert not living(address)
    assert living(other)


def test_descendants_are_killed_when_a_process_exits(table: ProcessTable) -> None:
    address = table.python(DAEMONS)
    assert table.end().ended == "exited with status 0"
    assert not living(address)


def test_a_seat_can_be_started_again(table: ProcessTable) -> None:
    first = table.shell("exit 1")
    table.end()
    second = table.shell(SLEEPER)
    assert first != second
    assert table.processes.report(0, patience=0).ended == ""


def test_processes_of_a_bot_die_with_the_killed_parent(tmp_path: Path) -> None:
    owner = tmp_path / "owner.py"
    owner.write_text(
        textwrap.dedent("""
            import sys, time
            from pathlib import Path
            from arena.bots.bot import Bot
            from arena.bots.manifest import Manifest
            from arena.bots.processes import Processes
            from arena.bots.sandbox import available_levels
            folder = Path(sys.argv[1])
            processes = Processes(level=available_levels.best_level())
            print(processes.start(0, Bot("b", Manifest("b", ("python", "bot.py")), folder)))
            print(processes._launcher.pid, flush=True)
            time.sleep(600)
        """)
    )
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.py").write_text(DAEMONS + "time.sleep(600)")
    with GuardedProcess(
        [sys.executable, owner, folder], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        launcher = int(process.stdout.readline())
        for name in ("child", "orphan"):
            wait_until((directory(address) / name).exists)
        # The parent of the orphan may still be running.
        wait_until(lambda: len(living(address)) == 3)
        process.kill()
    wait_until(lambda: not lives(launcher))
    assert not living(address)
    assert not directory(address).exists()


def test_a_bot_that_kills_its_init_process_gains_nothing(open_table: ProcessTable) -> None:
    address = open_table.python(DAEMONS + "os.kill(os.getppid(), 9)")
    assert open_table.end().ended == "was killed together with its init process"
    assert not living(address)


def test_a_dead_sandbox_launcher_is_an_infrastructure_fault(table: ProcessTable) -> None:
    address = table.shell(f"{THERE} touch ready; {SLEEPER}")
    table.wrote(address, "ready")
    os.kill(table.processes._launcher.pid, signal.SIGKILL)
    wait_until(lambda: bool(table.lost))
    assert table.lost == ["the sandbox launcher ended by itself."]
    with pytest.raises(InfrastructureError, check=has_code("launcher-lost")):
        table.shell(SLEEPER)
    wait_until(lambda: not living(address))
    assert table.ended == []


def test_the_end_of_a_process_is_awaited(table: ProcessTable) -> None:
    table.shell("exit 3")
    report = table.processes.await_end(0, 600.0)
    assert report is not None
    assert report.ended == "exited with status 3"


def test_an_unreadable_report_is_an_infrastructure_fault(table: ProcessTable) -> None:
    # The launcher writes its reports to its standard output.
    reports = Path(f"/proc/{table.processes._launcher.pid}/fd/1")
    with reports.open("wb") as pipe:
        pipe.write(b"garbage\n")
    wait_until(lambda: bool(table.lost))
    [sentence] = table.lost
    assert "JSONDecodeError" in sentence


def test_the_sandbox_launcher_imports_few_modules() -> None:
    script = (
        "import sys; sys.path.append(sys.argv[1]); import arena.bots.sandbox.launcher; "
        "print(*sys.modules)"
    )
    root = Path(arena.__file__).parent.parent
    imported = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, root],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = {name for name in imported if name.startswith("arena.")}
    assert {name for name in ours if not name.startswith("arena.bots.sandbox")} == {
        "arena.bots",
        "arena.system",
        "arena.system.beneath",
        "arena.system.file_tree",
    }
    assert not {"typing", "dataclasses", "subprocess", "socket", "asyncio"} & set(imported)


def test_control_characters_do_not_reach_a_terminal() -> None:
    assert sanitized("a\x1b[31mb\tc\r\nd\x9be\x00\x7f") == ("a\\x1b[31mb\tc\nd\\x9be\\x00\\x7f")
