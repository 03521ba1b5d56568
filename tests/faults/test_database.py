"""Matches continue after a period in which the database cannot be written."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from arena.store.matches.lease_times import LEASE_SECONDS
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena, ServeProcess
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

ENTRANTS = ("first", "last")
MATCHES = 5
NAP = 0.02
MEGABYTE = 1 << 20


def bots(arena: Arena) -> None:
    for number, name in enumerate(ENTRANTS):
        arena.slow(name, NAP, -number)


def schedule_matches(arena: Arena) -> None:
    arena.schedule([f"{name}@1" for name in ENTRANTS], cycles=MATCHES)


def under_way(arena: Arena, serve: ServeProcess) -> None:
    """Wait until further games are committed."""
    games = "SELECT count(*) FROM games"
    [(before,)] = arena.sql(games)
    serve.until(lambda: arena.sql(games)[0][0] > before + 2)


@pytest.mark.parametrize("seconds", [5, pytest.param(40, marks=pytest.mark.repetition)])
def test_a_database_that_is_locked_and_moved_away(
    arena: Arena, conclude: Conclude, seconds: int
) -> None:
    bots(arena)
    with Witness(arena) as witness, arena.serving(2) as serve:
        for fault in (locked, moved_away):
            schedule_matches(arena)
            under_way(arena, serve)
            with fault(arena):
                time.sleep(seconds)
            witness.blow(idle=True)
            serve.until(arena.over)
            if fault is locked and seconds < LEASE_SECONDS:
                assert arena.sql("SELECT DISTINCT attempt FROM matches") == [(1,)]
    tally = conclude(arena, witness, f"database locked and moved away for {seconds} s")
    assert tally.closed == 2 * MATCHES


@contextmanager
def locked(arena: Arena) -> Iterator[None]:
    with closing(sqlite3.connect(arena.where.database, isolation_level=None)) as blocker:
        blocker.execute("PRAGMA busy_timeout = 30000")
        blocker.execute("BEGIN EXCLUSIVE")
        yield
        blocker.execute("ROLLBACK")


@contextmanager
def moved_away(arena: Arena) -> Iterator[None]:
    away = arena.root / "away.db"
    arena.where.database.rename(away)
    yield
    assert not arena.where.database.exists()
    away.rename(arena.where.database)


@pytest.mark.parametrize("seconds", [5, pytest.param(40, marks=pytest.mark.repetition)])
def test_the_disk_of_the_database_is_full(conclude: Conclude, seconds: int) -> None:
    with processes.orphanage():
        arena = Arena(disk=small_disk)
        bots(arena)
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
