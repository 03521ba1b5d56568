"""Test that a match can be interrupted at any point, in a real process with a real store."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from arena.store import database, schema
from arena.store.bots import versions
from arena.store.match_settings import TournamentPlan
from arena.store.matches import listing, match_leases
from arena.tournaments import scheduler
from tests.waiting import wait_until

PLAYER = """
import sys, time
from arena.matches import lease_renewal
from arena.store import database
from arena.store.matches import match_leases as matches
from arena.system.stop_event import StopEvent

lease_renewal.RENEW_SECONDS, lease_renewal.GRACE_SECONDS = 0.1, 0.3
engine = database.open(sys.argv[1])
lease = matches.lease(engine, sys.argv[2], "w1", 60.0)
drain = StopEvent()

def report(word):
    print(word, flush=True)

def play(until):
    report("playing")
    end = time.monotonic() + until
    while time.monotonic() < end:
        time.sleep(0.01)
"""
STUBBORN = """
lease_renewal._RETRY_SECONDS = 0.1
with lease_renewal.LeaseRenewal(engine, lease, drain):
    while True:
        try:
            play(60)
        except BaseException:
            report("refused")
"""
WILLING = """
try:
    with lease_renewal.LeaseRenewal(engine, lease, drain) as renewal:
        {setting}
        play({seconds})
        report("finished")
except lease_renewal.Interrupted:
    report("interrupted")
time.sleep(0.3)
report("alive")
"""


class MatchProcesses:
    def __init__(self, engine: Engine, url: str) -> None:
        self.engine = engine
        self.url = url
        for name in "ab":
            versions.add_version(engine, name, "1", name * 64, f"/{name}", {})
        plan = TournamentPlan(
            name="cup", game="poke", options={"must_beat": True}, seats=2, boards=1
        )
        scheduler.begin(engine, plan, ["a@1", "b@1"])
        [self.match] = listing.matches(engine)

    def start(self, code: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PLAYER + code, self.url, self.match.id],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "playing\n"
        return process

    def lease_until(self) -> float:
        """Return the time at which the lease of the match lapses."""
        with self.engine.connect() as connection:
            until: float = connection.execute(select(schema.matches.c.lease_until)).scalar_one()
            return until

    def rest(self, process: subprocess.Popen[str]) -> list[str]:
        with process:
            assert process.stdout is not None
            return process.stdout.read().split("\n")[:-1]


@pytest.fixture
def player(tmp_path: Path) -> Iterator[MatchProcesses]:
    url = f"sqlite:///{tmp_path}/arena.db"
    engine = database.open(url)
    database.upgrade(engine)
    yield MatchProcesses(engine, url)
    engine.dispose()


def test_a_lease_is_renewed_while_the_match_is_played(player: MatchProcesses) -> None:
    process = player.start(WILLING.format(setting="", seconds=60))
    first = player.lease_until()
    wait_until(lambda: player.lease_until() > first)
    match_leases.void(player.engine, player.match.id, "because")
    assert player.rest(process) == ["interrupted", "alive"]


@pytest.mark.long
def test_a_closed_match_is_neither_renewed_nor_interrupted(player: MatchProcesses) -> None:
    process = player.start(WILLING.format(setting="renewal.end()", seconds=0.5))
    match_leases.void(player.engine, player.match.id, "because")
    assert player.rest(process) == ["finished", "alive"]


@pytest.mark.long
def test_a_short_game_is_not_interrupted_by_a_stop_request(player: MatchProcesses) -> None:
    setting = "lease_renewal.GRACE_SECONDS = 60; drain.set()"
    process = player.start(WILLING.format(setting=setting, seconds=0.5))
    assert player.rest(process) == ["finished", "alive"]


@pytest.mark.long
def test_a_long_game_is_interrupted_after_a_stop_request(player: MatchProcesses) -> None:
    process = player.start(WILLING.format(setting="drain.set()", seconds=60))
    assert player.rest(process) == ["interrupted", "alive"]


@pytest.mark.long
def test_a_process_that_cannot_be_interrupted_exits(player: MatchProcesses) -> None:
    process = player.start(STUBBORN)
    match_leases.void(player.engine, player.match.id, "because")
    assert player.rest(process)[-1] in ("refused", "playing")
    assert process.returncode == 1


@pytest.mark.long
def test_an_unexpected_failure_of_the_renewal_interrupts_the_match(player: MatchProcesses) -> None:
    broken = "matches.renew = None"
    process = player.start(broken + WILLING.format(setting="", seconds=60))
    assert player.rest(process) == ["interrupted", "alive"]
