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
from time import CLOCK_BOOTTIME, clock_gettime
from arena.store import sqlite
for _ in range(20):
    before = clock_gettime(CLOCK_BOOTTIME)
    now = sqlite.clock_of(Path(sys.argv[1]))()
    print(repr(now - clock_gettime(CLOCK_BOOTTIME)), repr(now - before))
"""
"""Prints by how much the clock is ahead of the uptime: at least, and at most."""


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
    assert abs(later() - first()) < 60
    assert abs(later() - wall()) < 60


@pytest.mark.long
def test_concurrent_first_processes_share_one_clock(tmp_path: Path) -> None:
    line = [sys.executable, "-c", FIRST, str(tmp_path / "arena.db")]
    many = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    rows = [row.split() for process in many for row in process.communicate()[0].splitlines()]
    assert len(rows) == 4 * 20
    # One value is possible everywhere. A process that was interrupted measured a longer range.
    assert max(float(least) for least, _ in rows) < min(float(most) for _, most in rows) + 0.001
    # There is one note and no other line.
    assert len(list(tmp_path.iterdir())) == 1


def test_the_file_of_an_earlier_boot_is_replaced(tmp_path: Path) -> None:
    old = tmp_path / "arena.db-clock-00000000-0000-0000-0000-000000000000"
    old.write_text("5.0")
    assert abs(sqlite.clock_of(tmp_path / "arena.db")() - time.time()) < 60
    assert not old.exists()


def test_the_clock_works_without_a_writable_folder(tmp_path: Path) -> None:
    assert abs(sqlite.clock_of(tmp_path / "no" / "folder" / "arena.db")() - time.time()) < 60
