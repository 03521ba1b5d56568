"""SIGSTOP: a process that is frozen beyond its lease neither loses nor doubles a game."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena import config
from arena.store.match_settings import Clock
from tests.faults import processes
from tests.faults.checker import check
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import PATIENT, Arena, ServeProcess
from tests.faults.witness import Witness
from tests.guarded_process import GuardedProcess
from tests.waiting import has_exited, wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

ENTRANTS = ("first", "last")
WORKERS = 3
SLOW_NAP = 1.0
"""Seconds for each decision, so that no game ends until the test calls `Arena.pace`."""
NAP = 0.05
FREEZE_SECONDS = 7
"""Longer than the bank of a bot, shorter than the supervisor's patience with a referee."""


@pytest.fixture(scope="module")
def serve() -> Iterator[ServeProcess]:
    """An arena with three workers, all of whose matches close."""
    with processes.orphanage():
        arena = Arena()
        for number, name in enumerate(ENTRANTS):
            arena.slow(name, choice=-number)
        with Witness(arena) as witness, arena.serving(WORKERS) as serve:
            yield serve
            serve.until(arena.over)
        tally = check(arena, witness, "SIGSTOP")
        assert tally.closed == tally.matches
        assert arena.sql("SELECT verdict, sentence FROM faults") == []
    arena.remove()


def schedule(arena: Arena, nap: float, matches: int = 1, clock: Clock = PATIENT) -> str:
    """Schedule matches of 4 games; return their tournament once all are played."""
    arena.pace(nap, *ENTRANTS)
    entrants = [f"{name}@1" for name in ENTRANTS]
    tournament = arena.schedule(entrants, cycles=matches, boards=2, clock=clock).id
    assert arena.serve is not None
    running = "SELECT 1 FROM matches WHERE tournament = ? AND state = 'RUNNING'"
    arena.serve.until(lambda: len(arena.sql(running, tournament)) == matches)
    return tournament


def wait_for_a_game(serve: ServeProcess, tournament: str) -> None:
    """Wait until a game is finished: before that, the referee may have no table."""
    games = "SELECT 1 FROM games JOIN matches ON matches.id = match WHERE tournament = ?"
    serve.until(lambda: bool(serve.arena.sql(games, tournament)))


def horse_of(serve: ServeProcess, worker: int) -> int:
    """Return the process in which a worker plays its match."""
    name = processes.owner(worker)
    [horse] = [pid for pid in serve.of("horse") if processes.owner(pid) == name]
    return horse


def referee_of(serve: ServeProcess, worker: int) -> int:
    variables = Path(f"/proc/{worker}/environ").read_text().split("\0")
    [address] = [each.partition("=")[2] for each in variables if each.startswith(config.REFEREE)]
    [referee] = [pid for pid in serve.of("referee") if address in processes.words(pid)]
    return referee


def test_processes_that_stay_frozen_are_replaced(serve: ServeProcess) -> None:
    """Freeze the referee of one worker, another worker with its match, and a third one's match."""
    tournament = schedule(serve.arena, SLOW_NAP, matches=WORKERS)
    first, second, third = serve.of("worker")
    frozen = [
        referee_of(serve, first),
        *(second, horse_of(serve, second)),
        horse_of(serve, third),
    ]
    for pid in frozen:
        assert processes.send(pid, signal.SIGSTOP)
    serve.arena.pace(NAP, *ENTRANTS)
    serve.until(lambda: all(map(has_exited, frozen)))
    serve.until(serve.arena.over)
    failures = "SELECT failures FROM matches WHERE tournament = ?"
    assert serve.arena.sql(failures, tournament) == [(1,)] * WORKERS


def test_a_worker_frozen_beyond_its_lease_cannot_write(serve: ServeProcess) -> None:
    tournament = schedule(serve.arena, SLOW_NAP)
    [horse] = serve.of("horse")
    name = processes.owner(horse)
    [worker] = [pid for pid in serve.of("worker") if processes.owner(pid) == name]
    for pid in (worker, horse):
        assert processes.send(pid, signal.SIGSTOP)
    # The lease lapses now: the frozen process takes it for valid when it continues.
    with serve.arena.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE matches SET lease_until = 0 WHERE state = 'RUNNING'")
    attempts = "SELECT attempt, failures, reason FROM matches WHERE tournament = ?"
    serve.until(lambda: serve.arena.sql(attempts, tournament)[0][0] == 2)
    serve.arena.pace(NAP, *ENTRANTS)
    for pid in (horse, worker):
        assert processes.send(pid, signal.SIGCONT)
    serve.until(serve.arena.over)
    [(attempt, failures, reason)] = serve.arena.sql(attempts, tournament)
    assert (attempt, failures) == (2, 1)
    assert name in reason


def test_no_bot_is_charged_for_a_short_freeze_of_the_referee(serve: ServeProcess) -> None:
    clock = Clock(start_ms=60_000, allowance_ms=1500, bank_ms=4000)
    tournament = schedule(serve.arena, NAP, clock=clock)
    wait_for_a_game(serve, tournament)
    [horse] = serve.of("horse")
    [worker] = [pid for pid in serve.of("worker") if processes.owner(pid) == processes.owner(horse)]
    referee = referee_of(serve, worker)
    assert processes.send(referee, signal.SIGSTOP)
    time.sleep(FREEZE_SECONDS)
    assert processes.send(referee, signal.SIGCONT)
    serve.until(serve.arena.over)
    failures = (
        "SELECT failures.reason FROM failures JOIN matches ON matches.id = match"
        " WHERE tournament = ?"
    )
    reasons = [str(reason) for (reason,) in serve.arena.sql(failures, tournament)]
    assert reasons
    assert all("process stalled" in reason for reason in reasons)


def test_an_unsupervised_frozen_referee_is_awaited(arena: Arena, conclude: Conclude) -> None:
    for number, name in enumerate(ENTRANTS):
        arena.slow(name, choice=-number)
    address = f"unix:{arena.temporary}/referee"
    line = [sys.executable, "-P", "-m", "referee", "--address", address]
    with GuardedProcess(line, stdout=subprocess.PIPE) as referee:
        assert referee.stdout is not None
        referee.stdout.readline()
        with Witness(arena) as witness, arena.serving(1, **{config.REFEREE: address}) as serve:
            wait_for_a_game(serve, schedule(arena, NAP))
            arena.pace(SLOW_NAP, *ENTRANTS)
            assert processes.send(referee.pid, signal.SIGSTOP)
            log = arena.where.service_logs / "worker-1.log"
            wait_until(lambda: "no referee answers" in log.read_text())
            # One failure, however long it was frozen: no match starts without a referee.
            assert arena.sql("SELECT failures FROM matches") == [(1,)]
            arena.pace(NAP, *ENTRANTS)
            assert processes.send(referee.pid, signal.SIGCONT)
            serve.until(arena.over)
        referee.terminate()
    tally = conclude(arena, witness, "SIGSTOP of a referee elsewhere")
    assert (tally.closed, arena.sql("SELECT verdict, sentence FROM faults")) == (1, [])
    assert arena.sql("SELECT failures FROM matches") == [(1,)]
