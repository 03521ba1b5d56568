"""Test what a bot with its own view of the file system sees of the machine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots import resolver, version_store
from arena.bots.bot import Bot
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels, machine_files
from arena.bots.sandbox.level import Level
from tests.arena.bots.sandbox.test_sandbox import LOCKED, needed
from tests.waiting import wait_until


class StoredBot:
    def __init__(self, level: Level, folder: Path) -> None:
        self.level = level
        self.folder = folder
        self.data = folder / "the-data-folder"
        (self.data / "versions").mkdir(parents=True)
        self.data.chmod(0o700)

    def version(self, script: str) -> Bot:
        source = self.folder / "source"
        source.mkdir(exist_ok=True)
        (source / "bot.toml").write_text('name = "bot"\nrun = ["python", "bot.py"]\n')
        (source / "bot.py").write_text(script)
        return version_store.admit(resolver.local(source), self.data / "versions")

    def output(self, script: str) -> str:
        with Processes(level=self.level) as processes:
            processes.start(0, self.version(script))
            wait_until(lambda: processes.ends(0))
            (report,) = processes.ends(0)
        assert report.ended == "exited with status 0", report
        return report.output


@pytest.fixture(params=LOCKED)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> StoredBot:
    needed(request.param)
    if not available_levels.has_disk(request.param):
        pytest.skip("this machine does not allow mount namespaces")
    return StoredBot(request.param, tmp_path)


def test_a_bot_does_not_see_where_the_arena_keeps_its_data(stored: StoredBot) -> None:
    script = """
import os, sys
for name in ("environ", "cmdline", "maps", "mountinfo", "mounts"):
    print(open(f"/proc/self/{name}").read())
print(os.getcwd(), sys.argv, __file__, os.readlink("/proc/self/cwd"), os.readlink("/proc/self/exe"))
print(open("bot.toml").read())
"""
    output = stored.output(script)
    assert stored.data.name not in output
    assert 'name = "bot"' in output


def test_files_outside_of_the_view_do_not_exist(stored: StoredBot) -> None:
    places = [str(stored.data), str(stored.folder), "/etc/passwd", "/root/.bashrc", "/var/log"]
    script = f"import os; print([path for path in {places!r} if os.path.lexists(path)])"
    assert stored.output(script) == "[]\n"


def test_a_bot_never_runs_as_root(stored: StoredBot) -> None:
    script = "import os; print(os.getresuid() + os.getresgid(), os.getgroups())"
    ids, _, groups = stored.output(script).partition(") ")
    assert " 0," not in f" {ids.removeprefix('(')},"
    assert os.geteuid() != 0 or groups == "[]\n"


def test_counters_of_the_machine_are_not_readable(stored: StoredBot) -> None:
    script = """
import os
seen = {}
for name in ("cpuinfo", "meminfo", "stat", "vmstat", "zoneinfo", "interrupts", "sys/fs/file-nr"):
    try:
        seen[f"/proc/{name}"] = open(f"/proc/{name}").read()
    except OSError:
        pass
for folder, _, names in os.walk("/proc"):
    if folder.split("/")[2:3] and folder.split("/")[2].isdigit():
        continue
    for name in names:
        path = f"{folder}/{name}"
        if os.path.islink(path):
            continue
        try:
            seen[path] = open(path).read()
        except (OSError, ValueError):
            pass
print(sorted(path for path, text in seen.items() if text))
"""
    readable = set(eval(stored.output(script)))
    copies = {"cpuinfo", "meminfo", "stat", "uptime", "loadavg", *machine_files.CONSTANT}
    expected = {f"/proc/{name}" for name in copies}
    expected |= {f"/proc/sys/{name}" for name in machine_files.SETTINGS}
    assert readable <= expected
    assert {f"/proc/{name}" for name in ("cpuinfo", "meminfo", "stat")} <= readable


def test_copies_of_kernel_files_are_the_same_at_each_start(stored: StoredBot) -> None:
    script = """
for name in ("cpuinfo", "meminfo", "stat", "uptime", "loadavg"):
    print(open(f"/proc/{name}").read())
"""
    assert stored.output(script) == stored.output(script)


def test_reading_a_file_does_not_change_its_access_time(stored: StoredBot) -> None:
    program = "print(open('data').read(), end='')"
    version = stored.version(program)
    assert version.folder is not None
    data = version.folder / "data"
    data.write_text("x")
    data.chmod(0o644)
    os.utime(data, (1, 10**9))
    with Processes(level=stored.level) as processes:
        processes.start(0, version)
        wait_until(lambda: processes.ends(0))
        assert processes.ends(0)[0].output == "x"
    assert data.stat().st_atime == 1


def test_a_bot_sets_modes_and_times_of_its_own_files_only(stored: StoredBot) -> None:
    script = """
import os
own = os.environ["TMPDIR"] + "/x"
open(own, "w").close()
os.utime(own, (1, 1)); os.chmod(own, 0o600)
print(os.stat(own).st_mtime, oct(os.stat(own).st_mode))
for path in ("bot.py", "/usr/bin/env"):
    for change in (lambda: os.utime(path, (1, 1)), lambda: os.chmod(path, 0o777)):
        try:
            change()
            print("changed", path)
        except OSError:
            pass
"""
    assert stored.output(script) == "1.0 0o100600\n"


def test_a_bot_runs_from_a_data_folder_below_its_runtimes(
    stored: StoredBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POKEARENA_RUNTIMES", str(stored.folder))
    monkeypatch.setenv("POKEARENA_DATA", str(stored.data))
    (stored.folder / "tool").mkdir()
    (stored.data / "secret").write_text("secret")
    script = f"import os; print(os.listdir({str(stored.folder)!r}))"
    names = eval(stored.output(script))
    assert "tool" in names
    assert stored.data.name not in names


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    """Let the copies for bots not depend on the umask of the arena."""
    before = os.umask(0o077)
    yield
    os.umask(before)
