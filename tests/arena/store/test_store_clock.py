"""All processes use one clock in an SQLite store, independent of their own clocks."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.store import sqlite

FIRST = """
import sys
from pathlib import Path
from arena.store import sqlite as clock
for _ in range(20):
    print(repr(clock.clock_of(Path(sys.argv[1]))() - __import__("time").clock_gettime(7)))
"""


def test_the_clock_starts_at_the_wall_clock(tmp_path: Path) -> None:
    before = time.time()
    assert before - 0.01 < sqlite.clock_of(tmp_path / "arena.db")() < time.time() + 0.01


def test_the_clock_ignores_changes_of_the_wall_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sqlite.clock_of(tmp_path / "arena.db")
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + 3600)
    later = sqlite.clock_of(tmp_path / "arena.db")
    assert abs(later() - first()) < 1
    assert abs(later() - wall()) < 1


@pytest.mark.long
def test_concurrent_first_processes_share_one_clock(tmp_path: Path) -> None:
    line = [sys.executable, "-c", FIRST, str(tmp_path / "arena.db")]
    many = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    ahead = {round(float(word), 3) for process in many for word in process.communicate()[0].split()}
    assert max(ahead) - min(ahead) < 0.01
    # There is one note and no other line.
    assert len(list(tmp_path.iterdir())) == 1


def test_the_file_of_an_earlier_boot_is_replaced(tmp_path: Path) -> None:
    old = tmp_path / "arena.db-clock-00000000-0000-0000-0000-000000000000"
    old.write_text("5.0")
    assert abs(sqlite.clock_of(tmp_path / "arena.db")() - time.time()) < 1
    assert not old.exists()


def test_the_clock_works_without_a_writable_folder(tmp_path: Path) -> None:
    assert abs(sqlite.clock_of(tmp_path / "no" / "folder" / "arena.db")() - time.time()) < 1
