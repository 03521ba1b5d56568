"""SIGSTOP: a process that is frozen beyond its lease neither loses nor doubles a game."""

import signal
import subprocess
import sys
import time

import pytest

from arena import config
from arena.store.match_settings import Clock
from arena.store.matches.lease_times import LEASE_SECONDS
from tests.faults import processes
from tests.faults.checker import RESUME_SECONDS
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import PATIENT, Arena, ServeProcess
from tests.faults.witness import Witness
from tests.guarded_process import GuardedProcess

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

NAP = 0.05
BEYOND = LEASE_SECONDS + 5
"""Seconds for which a process is frozen: longer than a lease."""


def schedule_matches(arena: Arena, clock: Clock = PATIENT) -> None:
    """Schedule a match of 4 games that take about 2.5 s each."""
    entrants = [arena.slow("first", NAP), arena.slow("last", NAP, -1)]
    arena.schedule(entrants, boards=2, clock=clock)


def wait_for_first_game(arena: Arena, serve: ServeProcess) -> None:
    serve.until(lambda: bool(arena.sql("SELECT 1 FROM games LIMIT 1")))


def freeze(pids: list[int], seconds: float) -> None:
    for pid in pids:
        assert processes.send(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in pids:
        processes.send(pid, signal.SIGCONT)


def faults(arena: Arena) -> list[tuple[object, ...]]:
    return arena.sql("SELECT verdict, sentence FROM faults")


def test_a_frozen_referee_is_killed_and_its_match_continues(
    arena: Arena, conclude: Conclude
) -> None:
    schedule_matches(arena)
    with Witness(arena) as witness, arena.serving(1) as serve:
        wait_for_first_game(arena, serve)
        witness.blow()
        freeze([serve.one("referee")], BEYOND)
        serve.until(arena.over)
    tally = conclude(arena, witness, "SIGSTOP of the referee")
    assert tally.p95 is not None
    assert tally.p95 < LEASE_SECONDS + RESUME_SECONDS
    assert (tally.closed, faults(arena)) == (1, [])


def test_an_unsupervised_frozen_referee_is_awaited(arena: Arena, conclude: Conclude) -> None:
    schedule_matches(arena)
    address = f"unix:{arena.temporary}/referee"
    line = [sys.executable, "-P", "-m", "referee", "--address", address]
    with GuardedProcess(line, stdout=subprocess.PIPE) as referee:
        assert referee.stdout is not None
        referee.stdout.readline()
        with Witness(arena) as witness, arena.serving(1, **{config.REFEREE: address}) as serve:
            wait_for_first_game(arena, serve)
            freeze([referee.pid], 2 * BEYOND)
            witness.blow()
            serve.until(arena.over)
        referee.terminate()
    tally = conclude(arena, witness, "SIGSTOP of a referee elsewhere")
    assert (tally.closed, faults(arena)) == (1, [])
    # One failure, however long it was frozen: no match starts without a referee.
    [(failures,)] = arena.sql("SELECT failures FROM matches")
    assert failures == 1


def test_no_bot_is_charged_for_a_short_freeze_of_the_referee(
    arena: Arena, conclude: Conclude
) -> None:
    schedule_matches(arena, Clock(start_ms=60_000, allowance_ms=1000, bank_ms=2000))
    with Witness(arena) as witness, arena.serving(1) as serve:
        wait_for_first_game(arena, serve)
        witness.blow()
        freeze([serve.one("referee")], 5)
        serve.until(arena.over)
    tally = conclude(arena, witness, "SIGSTOP of the referee, short")
    assert (tally.closed, faults(arena)) == (1, [])
    reasons = [str(reason) for (reason,) in arena.sql("SELECT reason FROM failures")]
    assert reasons
    assert all("process stalled" in reason for reason in reasons)


def test_a_worker_frozen_beyond_its_lease_cannot_write(arena: Arena, conclude: Conclude) -> None:
    schedule_matches(arena)
    with Witness(arena) as witness, arena.serving(2) as serve:
        wait_for_first_game(arena, serve)
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


@pytest.mark.parametrize("roles", [("worker", "horse"), ("horse",)], ids="-".join)
def test_the_processes_of_the_only_worker_are_replaced_if_they_stay_frozen(
    arena: Arena, conclude: Conclude, roles: tuple[str, ...]
) -> None:
    schedule_matches(arena)
    with Witness(arena) as witness, arena.serving(1) as serve:
        wait_for_first_game(arena, serve)
        witness.blow()
        for pid in [serve.one(role) for role in roles]:
            processes.send(pid, signal.SIGSTOP)
        serve.until(arena.over)
    tally = conclude(arena, witness, f"SIGSTOP of the only {' and '.join(roles)}, for good")
    assert max(tally.resumed) < LEASE_SECONDS + RESUME_SECONDS
