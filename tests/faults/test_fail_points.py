"""SIGKILL at every fault point in the transactions of the services, and around every job."""

import shutil
import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext

import pytest

from arena.store.bots import versions
from arena.system.failpoint import JOB_STEPS, NAMES
from tests.cluster import Cluster
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena, ServeProcess
from tests.faults.subscriber import subscribed
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

NAP = 0.5
"""Seconds for each of 16 decisions: a game takes longer than the time between two renewals."""
ENTRANTS = ("first", "last")
Act = Callable[[Arena, ServeProcess], None]


def subject(name: str) -> str:
    """Return the transaction, or the step of a job, to which a fault point belongs."""
    return name if name in JOB_STEPS else name.partition(".")[0]


def in_the_first_moment(arena: Arena, serve: ServeProcess) -> None:
    """Do nothing: the start of the services upgrades the store."""


def under_way(arena: Arena, serve: ServeProcess) -> None:
    arena.schedule([f"{name}@1" for name in ENTRANTS])


def under_a_long_match(arena: Arena, serve: ServeProcess) -> None:
    arena.pace(NAP, *ENTRANTS)
    under_way(arena, serve)


def in_a_knockout(arena: Arena, serve: ServeProcess) -> None:
    """Schedule a knockout, whose second round is scheduled after the first."""
    entrants = [f"{name}@1" for name in (*ENTRANTS, "other")]
    arena.schedule(entrants, format="knockout", settings={})


def when_the_referee_dies(arena: Arena, serve: ServeProcess) -> None:
    within_a_match(arena, serve)
    processes.send(serve.one("referee"), signal.SIGKILL)


def when_the_worker_dies(arena: Arena, serve: ServeProcess) -> None:
    within_a_match(arena, serve)
    processes.send(serve.one("worker"), signal.SIGKILL)


def within_a_match(arena: Arena, serve: ServeProcess) -> None:
    under_a_long_match(arena, serve)
    serve.until(lambda: bool(serve.of("bot")))


def when_a_bot_is_gone(arena: Arena, serve: ServeProcess) -> None:
    """Delete a bot: all its matches fail, and it is quarantined."""
    gone = arena.slow("gone")
    shutil.rmtree(arena.where.versions / "gone")
    arena.schedule([*(f"{name}@1" for name in ENTRANTS), gone], cycles=5)
    serve.until(lambda: versions.find_version(arena.engine, gone).quarantined is not None)


PROVOKED: dict[str, Act] = {
    "upgrade": in_the_first_moment,
    "lease": under_way,
    "commit_game": under_way,
    "closing_game": under_way,
    "renew": under_a_long_match,
    "release": when_the_referee_dies,
    "extend": in_a_knockout,
    "close": under_way,
    "end_leases": when_the_worker_dies,
    "quarantine": when_a_bot_is_gone,
    **dict.fromkeys(JOB_STEPS, under_way),
}
"""The function that causes each transaction of the services, or step of a job."""

EVENTS = (
    *("lease.written", "commit_game.written", "closing_game.written", "closing_game.committed"),
    "release.written",
)
"""Points around which events are published; none may be published for work that is rolled back."""
EVERY_POINT = {"lease", "commit_game", "closing_game", "close", *JOB_STEPS}
"""What CI kills after it was written and after its commit; at others only after they were written.

A kill at the beginning of a transaction leaves the store as a kill between two transactions does.
"""
POSTGRESQL = (
    "lease.written",
    "commit_game.written",
    "closing_game.committed",
    "quarantine.written",
)
"""The points at which CI kills on PostgreSQL."""

CAUSED = [name for name in NAMES if subject(name) in PROVOKED]


def is_in_ci(name: str) -> bool:
    return name.endswith(".written") or (
        subject(name) in EVERY_POINT and not name.endswith(".begin")
    )


CI = [name for name in CAUSED if is_in_ci(name)]
OTHERS = [name for name in CAUSED if name not in CI]
OF_POSTGRESQL = [
    *(name for name in CAUSED if name.endswith(".written") and name not in POSTGRESQL),
    "commit_game.committed",
]


# tests/faults/test_operators.py covers the operators' transactions.
@pytest.mark.parametrize(
    "names",
    [
        pytest.param([name for name in CI if name not in EVENTS], id="CI"),
        pytest.param(OTHERS, id="others", marks=pytest.mark.repetition),
    ],
)
def test_kills_at_fault_points_lose_and_double_nothing(
    names: Sequence[str], conclude: Conclude
) -> None:
    strike(names, conclude)


def test_kills_around_events_publish_none_too_early(conclude: Conclude) -> None:
    strike(EVENTS, conclude, events=True)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(POSTGRESQL, id="CI"),
        pytest.param(OF_POSTGRESQL, id="others", marks=pytest.mark.repetition),
    ],
)
def test_kills_in_transactions_of_postgresql_lose_and_double_nothing(
    names: Sequence[str], conclude: Conclude, server: Cluster
) -> None:
    with server.database() as url:
        strike(names, conclude, url)


def strike(names: Sequence[str], conclude: Conclude, url: str = "", events: bool = False) -> None:
    """Kill processes at all points in one arena."""
    by_act: defaultdict[Act, list[str]] = defaultdict(list)
    for name in names:
        by_act[PROVOKED[subject(name)]].append(name)
    upgrades = by_act.pop(in_the_first_moment, [])
    with processes.orphanage():
        arena = Arena(made=not upgrades, url=url)
        for name in upgrades:
            arena.arm(name)
        subscription = subscribed(arena) if events else nullcontext()
        with subscription, arena.serving(1) as serve:
            serve.until(lambda: arena.where.running() is not None and not serve.fell)
            assert arena.armed() == []
            for number, name in enumerate((*ENTRANTS, "other")):
                arena.slow(name, choice=-(number % 2))
            with Witness(arena) as witness:
                for act, points in by_act.items():
                    reach(arena, serve, act, points)
        conclude(arena, witness, f"SIGKILL at fault points{', PostgreSQL' if url else ''}")
    arena.remove()


def reach(arena: Arena, serve: ServeProcess, act: Act, points: Sequence[str]) -> None:
    """Act until a process has been killed at each point; play all matches to their end."""
    for name in points:
        arena.arm(name)
    act(arena, serve)
    serve.until(lambda: not arena.armed(), 800)
    arena.pace(0, *ENTRANTS)
    serve.until(arena.over)
