"""SIGSTOP: whatever stands still beyond its lease, and comes back, loses and doubles nothing."""

import signal
import subprocess
import sys
import time

import pytest

from arena import config
from arena.store.matches.spec import Clock
from arena.store.matches.transitions import LEASE_SECONDS
from tests.faults import processes
from tests.faults.checker import RESUME_SECONDS
from tests.faults.conftest import Conclude
from tests.faults.stage import PATIENT, Arena, Serve
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

NAP = 0.1
BEYOND = LEASE_SECONDS + 5
"""Seconds of standstill: nobody who stood still so long has a lease any more."""


def cup(arena: Arena, clock: Clock = PATIENT) -> None:
    """A match of 4 games that take about 5 s each."""
    entrants = [arena.slow("first", NAP), arena.slow("last", NAP, -1)]
    arena.schedule(entrants, boards=2, clock=clock)


def until_a_game(arena: Arena, serve: Serve) -> None:
    serve.until(lambda: bool(arena.sql("SELECT 1 FROM games LIMIT 1")))


def freeze(pids: list[int], seconds: float) -> None:
    for pid in pids:
        assert processes.send(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in pids:
        processes.send(pid, signal.SIGCONT)


def faults(arena: Arena) -> list[tuple[object, ...]]:
    return arena.sql("SELECT verdict, sentence FROM faults")


def test_a_frozen_referee_is_killed_and_its_matches_go_on(arena: Arena, conclude: Conclude) -> None:
    cup(arena)
    with Witness(arena) as witness, arena.serving(1) as serve:
        until_a_game(arena, serve)
        witness.blow()
        freeze([serve.one("referee")], BEYOND)
        serve.until(arena.over)
    tally = conclude(arena, witness, "SIGSTOP of the referee")
    assert tally.p95 is not None
    assert tally.p95 < LEASE_SECONDS + RESUME_SECONDS
    assert (tally.closed, faults(arena)) == (1, [])


def test_a_referee_that_nobody_watches_over_is_left_alone_until_it_is_back(
    arena: Arena, conclude: Conclude
) -> None:
    cup(arena)
    address = f"unix:{arena.temporary}/referee"
    line = [sys.executable, "-P", "-m", "referee", "--address", address]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as referee:
        assert referee.stdout is not None
        referee.stdout.readline()
        with Witness(arena) as witness, arena.serving(1, **{config.REFEREE: address}) as serve:
            until_a_game(arena, serve)
            freeze([referee.pid], 2 * BEYOND)
            witness.blow()
            serve.until(arena.over)
        referee.terminate()
    tally = conclude(arena, witness, "SIGSTOP of a referee elsewhere")
    assert (tally.closed, faults(arena)) == (1, [])
    # However long it was away: one failure, for a match is not begun without a referee.
    [(failures,)] = arena.sql("SELECT failures FROM matches")
    assert failures == 1


def test_no_bot_is_charged_for_a_referee_that_stood_still_for_a_moment(
    arena: Arena, conclude: Conclude
) -> None:
    cup(arena, Clock(start_ms=60_000, allowance_ms=1000, bank_ms=2000))
    with Witness(arena) as witness, arena.serving(1) as serve:
        until_a_game(arena, serve)
        witness.blow()
        freeze([serve.one("referee")], 5)
        serve.until(arena.over)
    tally = conclude(arena, witness, "SIGSTOP of the referee, short")
    assert (tally.closed, faults(arena)) == (1, [])
    [(reason,)] = arena.sql("SELECT reason FROM matches")
    assert "stood still" in reason


def test_a_worker_frozen_beyond_its_lease_can_write_no_more_when_it_is_back(
    arena: Arena, conclude: Conclude
) -> None:
    cup(arena)
    with Witness(arena) as witness, arena.serving(2) as serve:
        until_a_game(arena, serve)
        [horse] = serve.of("horse")
        name = processes.owner(horse)
        worker = next(pid for pid in serve.of("worker") if processes.owner(pid) == name)
        witness.blow(name)
        freeze([worker, horse], BEYOND)
        serve.until(arena.over)
    tally = conclude(arena, witness, "SIGSTOP of a worker")
    assert tally.resumed
    assert max(tally.resumed) < LEASE_SECONDS + RESUME_SECONDS
    [(attempt, failures, owner)] = arena.sql("SELECT attempt, failures, reason FROM matches")
    assert (attempt, failures) == (2, 1)
    assert name in owner


def test_the_only_worker_frozen_for_good_is_replaced(arena: Arena, conclude: Conclude) -> None:
    cup(arena)
    with Witness(arena) as witness, arena.serving(1) as serve:
        until_a_game(arena, serve)
        witness.blow()
        for pid in (serve.one("worker"), serve.one("horse")):
            processes.send(pid, signal.SIGSTOP)
        serve.until(arena.over)
    tally = conclude(arena, witness, "SIGSTOP of the only worker, for good")
    assert max(tally.resumed) < LEASE_SECONDS + RESUME_SECONDS


def test_a_work_horse_frozen_for_good_is_replaced(arena: Arena, conclude: Conclude) -> None:
    cup(arena)
    with Witness(arena) as witness, arena.serving(1) as serve:
        until_a_game(arena, serve)
        witness.blow()
        processes.send(serve.one("horse"), signal.SIGSTOP)
        serve.until(arena.over)
    tally = conclude(arena, witness, "SIGSTOP of a work horse, for good")
    assert max(tally.resumed) < LEASE_SECONDS + RESUME_SECONDS
