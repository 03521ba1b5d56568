"""SIGKILL at every fault point in the transactions of the services, and around every job."""

import shutil
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from arena.store.bots import versions
from arena.system.failpoint import JOB_STEPS, NAMES, VARIABLE
from tests.cluster import Cluster
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.failpoint_runs import assert_reached, play, serve_under, subject
from tests.faults.fault_arena import Arena
from tests.faults.subscriber import subscribed
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

NAP = 0.15
"""Seconds: a game of 16 decisions then takes long enough for a lease to be renewed."""
Act = Callable[[Arena, Witness, str], None]


def under_way(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness, failpoint)


def under_a_long_match(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness, failpoint, nap=NAP)


def in_a_knockout(arena: Arena, witness: Witness, failpoint: str) -> None:
    """Schedule a knockout, whose second round is scheduled after the first."""
    entrants = [arena.slow(name, choice=-n) for n, name in enumerate(("first", "last"))]
    arena.schedule([*entrants, arena.slow("other")], format="knockout", settings={})
    serve_under(arena, witness, failpoint)


def when_the_referee_dies(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness, failpoint, "kill the referee", nap=NAP / 3)


def when_the_worker_dies(arena: Arena, witness: Witness, failpoint: str) -> None:
    play(arena, witness, failpoint, "kill the worker", nap=NAP / 3)


def in_the_first_moment(arena: Arena, witness: Witness, failpoint: str) -> None:
    with arena.serving(1, **{VARIABLE: failpoint}) as serve:
        serve.until(lambda: arena.where.running() is not None and not serve.fell)
    play(arena, witness)


def when_a_bot_is_gone(arena: Arena, witness: Witness, failpoint: str) -> None:
    """Delete a bot: all its matches fail, and it is quarantined."""
    entrants = [arena.slow("first"), arena.slow("last", choice=-1), arena.slow("gone")]
    arena.schedule(entrants, cycles=6)
    shutil.rmtree(arena.where.versions / "gone")
    serve_under(arena, witness, failpoint)
    assert versions.find_version(arena.engine, "gone@1").quarantined is not None


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


def marks(name: str) -> list[pytest.MarkDecorator]:
    if name.endswith(".written") or (subject(name) in EVERY_POINT and not name.endswith(".begin")):
        return []
    return [pytest.mark.repetition]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=marks(name)) for name in NAMES if subject(name) in PROVOKED],
)
def test_a_kill_at_a_fault_point_loses_and_doubles_nothing(name: str, conclude: Conclude) -> None:
    strike(name, conclude)


# tests/faults/test_operators.py covers the operators' transactions.
@pytest.mark.parametrize(
    "name",
    ["lease.written", "commit_game.written", "closing_game.committed", "quarantine.written"]
    + [
        pytest.param(name, marks=pytest.mark.repetition)
        for name in (
            "commit_game.committed",
            *(f"{what}.written" for what in ("upgrade", "renew", "release", "closing_game")),
            *(f"{what}.written" for what in ("end_leases", "extend", "close")),
        )
    ],
)
def test_a_kill_in_a_transaction_of_postgresql_loses_and_doubles_nothing(
    name: str, conclude: Conclude, server: Cluster
) -> None:
    with server.database() as url:
        strike(name, conclude, url)


def strike(name: str, conclude: Conclude, url: str = "") -> None:
    what = subject(name)
    with processes.orphanage():
        arena = Arena(made=what != "upgrade", url=url)
        if what == "upgrade":
            under_fire_from_nothing(arena, name, conclude)
        else:
            token = arena.token()
            events = subscribed(arena) if name in EVENTS and not url else nullcontext()
            with Witness(arena, token) as witness, events:
                PROVOKED[what](arena, witness, f"{name}@{token}")
            assert_reached(token, name)
            conclude(arena, witness, f"SIGKILL at {what}{', PostgreSQL' if url else ''}")
    arena.remove()


def under_fire_from_nothing(arena: Arena, name: str, conclude: Conclude) -> None:
    token = arena.token()
    with arena.serving(1, **{VARIABLE: f"{name}@{token}"}) as serve:
        serve.until(lambda: arena.where.running() is not None and not serve.fell)
    assert_reached(token, name)
    with Witness(arena) as witness:
        play(arena, witness)
    conclude(arena, witness, "SIGKILL at upgrade")
