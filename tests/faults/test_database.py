"""Matches continue after a period in which the database cannot be written."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.store.matches.lease_times import LEASE_SECONDS
from tests.faults import processes
from tests.faults.checker import RESUME_SECONDS
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena, ServeProcess
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

MATCHES = 8
NAP = 0.02
MEGABYTE = 1 << 20


def schedule_matches(arena: Arena) -> None:
    arena.schedule([arena.slow("first", NAP), arena.slow("last", NAP, -1)], cycles=MATCHES)


def under_way(arena: Arena, serve: ServeProcess) -> None:
    serve.until(lambda: len(arena.sql("SELECT 1 FROM games")) > 3)


@pytest.mark.parametrize("seconds", [5, pytest.param(40, marks=pytest.mark.repetition)])
def test_a_database_locked_by_another_process(
    arena: Arena, conclude: Conclude, seconds: int
) -> None:
    schedule_matches(arena)
    with Witness(arena) as witness, arena.serving(2) as serve:
        under_way(arena, serve)
        blocker = sqlite3.connect(arena.where.database, isolation_level=None)
        blocker.execute("PRAGMA busy_timeout = 30000")
        blocker.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds)
        blocker.execute("ROLLBACK")
        blocker.close()
        witness.blow(idle=True)
        serve.until(arena.over)
    tally = conclude(arena, witness, f"database locked for {seconds} s")
    assert tally.closed == MATCHES
    assert tally.p95 is not None
    assert tally.p95 < RESUME_SECONDS
    if seconds < LEASE_SECONDS:
        assert arena.sql("SELECT DISTINCT attempt FROM matches") == [(1,)]


@pytest.mark.parametrize("seconds", [5, pytest.param(40, marks=pytest.mark.repetition)])
def test_a_database_that_is_moved_away_and_back(
    arena: Arena, conclude: Conclude, seconds: int
) -> None:
    schedule_matches(arena)
    with Witness(arena) as witness, arena.serving(2) as serve:
        under_way(arena, serve)
        away = arena.root / "away.db"
        arena.where.database.rename(away)
        time.sleep(seconds)
        assert not arena.where.database.exists()
        away.rename(arena.where.database)
        witness.blow(idle=True)
        serve.until(arena.over)
    tally = conclude(arena, witness, f"database moved away for {seconds} s")
    assert tally.closed == MATCHES
    assert tally.p95 is not None
    assert tally.p95 < RESUME_SECONDS


@pytest.mark.parametrize("seconds", [5, pytest.param(40, marks=pytest.mark.repetition)])
def test_the_disk_of_the_database_is_full(conclude: Conclude, seconds: int) -> None:
    with processes.orphanage():
        arena = Arena(disk=small_disk)
        schedule_matches(arena)
        with Witness(arena) as witness, arena.serving(2) as serve:
            under_way(arena, serve)
            ballast = fill(arena.where.root)
            time.sleep(seconds)
            before = arena.sql("SELECT count(*) FROM games")
            time.sleep(2)
            assert arena.sql("SELECT count(*) FROM games") == before
            ballast.unlink()
            witness.blow(idle=True)
            serve.until(arena.over)
        tally = conclude(arena, witness, f"database disk full for {seconds} s")
    assert tally.closed == MATCHES
    assert tally.p95 is not None
    assert tally.p95 < RESUME_SECONDS
    arena.remove()


@contextmanager
def small_disk(directory: Path) -> Iterator[None]:
    """Mount a file system of 32 MiB at a directory."""
    directory.mkdir(exist_ok=True)
    line = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(directory)]
    if subprocess.run(line, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can make a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def fill(directory: Path) -> Path:
    ballast = directory / "ballast"
    with ballast.open("wb", buffering=0) as file:
        size = MEGABYTE
        while size:
            try:
                file.write(os.urandom(size))
            except OSError:
                size //= 2
    return ballast
