"""Test workers whose sandbox is lost and comes back, or does not suit pushed bots."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bots.sandbox import landlock
from arena.config import Folder
from arena.services.queue import redis_server, worker_registrations
from arena.services.queue.worker_registrations import WorkerInfo
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.system import redis_connection
from tests.arena.bots.sandbox import fake_bubblewrap
from tests.arena.bots.sandbox.fake_bubblewrap import FakeBubblewrap
from tests.arena.services.worker_host import WorkerHostHarness
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(
    not os.path.exists("/usr/bin/bwrap") or landlock.version() == 0, reason="needs both levels"
)


class WorkerMachine:
    """A machine with one worker process, whose program bwrap can be changed."""

    def __init__(self, directory: Path, redis: str) -> None:
        self.bwrap = FakeBubblewrap(directory)
        self.host = WorkerHostHarness(directory, redis)
        self.host.environment["PATH"] = str(self.bwrap.directory)
        self._connection = redis_connection.connect(redis)

    def info(self) -> WorkerInfo | None:
        """Return the registration of the worker."""
        return next(iter(worker_registrations.workers(self._connection)), None)

    def has_level(self, level: str) -> bool:
        """Return whether the worker has registered this sandbox level."""
        info = self.info()
        return info is not None and info.sandbox.level == level

    def state(self, match: str) -> tuple[MatchState, int, int]:
        """Return a match's state, number of attempts and number of failures."""
        found = listing.find_match(self.host.engine, match)
        return found.state, found.attempt, found.failures

    def is_closed(self, match: str) -> bool:
        return self.state(match)[0] is MatchState.CLOSED


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[WorkerMachine]:
    with redis_server.resolve(Folder(tmp_path / "redis-data"), {}) as address:
        created = WorkerMachine(tmp_path, address.url)
        yield created
        created.host.engine.dispose()


@pytest.mark.long
def test_a_worker_waits_for_its_lost_sandbox_and_continues(machine: WorkerMachine) -> None:
    machine.bwrap.behave(fake_bubblewrap.WORKS)
    with machine.host.worker() as process:
        wait_until(lambda: machine.has_level("bubblewrap"))
        first = machine.info()
        machine.bwrap.uninstall()
        # An idle worker notices it when it takes the next job.
        [match] = machine.host.schedule()
        wait_until(lambda: "takes no match" in machine.host.log)
        wait_until(lambda: machine.has_level("unavailable"))
        assert machine.state(match) == (MatchState.PENDING, 0, 0)
        machine.host.enqueue(match)
        machine.bwrap.behave(fake_bubblewrap.WORKS)
        wait_until(lambda: machine.is_closed(match))
        assert machine.state(match) == (MatchState.CLOSED, 1, 0)
        assert first is not None
        assert (info := machine.info()) is not None
        assert (info.pid, info.sandbox.level) == (first.pid, "bubblewrap")
        process.terminate()
    assert machine.host.log.count("takes no match") == 1


@pytest.mark.long
def test_a_pushed_bot_waits_if_landlock_was_not_chosen(machine: WorkerMachine) -> None:
    [match] = machine.host.schedule(pushed=["random"])
    with machine.host.worker() as process:
        wait_until(lambda: f"{match}: not started: random@1 came from" in machine.host.log)
        info = machine.info()
        assert info is not None
        assert (info.sandbox.level, info.sandbox.plays_pushed) == ("landlock", False)
        assert machine.state(match) == (MatchState.PENDING, 0, 0)
        process.terminate()


@pytest.mark.long
@pytest.mark.parametrize(
    ("pushed", "words"),
    [
        pytest.param([], [], marks=pytest.mark.repetition),
        (["meek", "random"], ["--sandbox", "landlock"]),
    ],
)
def test_matches_are_played_at_landlock(
    machine: WorkerMachine, pushed: list[str], words: list[str]
) -> None:
    [match] = machine.host.schedule(pushed=pushed)
    with machine.host.worker(*words) as process:
        wait_until(lambda: machine.is_closed(match))
        assert machine.state(match) == (MatchState.CLOSED, 1, 0)
        process.terminate()


@pytest.mark.long
def test_a_worker_below_the_stored_level_registers_it(machine: WorkerMachine) -> None:
    machine.bwrap.behave(fake_bubblewrap.WORKS)
    with machine.host.worker() as process:
        wait_until(lambda: machine.has_level("bubblewrap"))
        process.terminate()
    with machine.host.worker("--sandbox", "landlock") as process:
        wait_until(lambda: machine.has_level("landlock"))
        info = machine.info()
        assert info is not None
        assert info.sandbox.is_below_stored
        process.terminate()


@pytest.mark.long
def test_a_burst_worker_does_not_wait_for_its_sandbox(machine: WorkerMachine) -> None:
    machine.bwrap.behave(fake_bubblewrap.MISSING_FILE)
    [match] = machine.host.schedule()
    with machine.host.worker("--burst") as process:
        assert process.wait() == 0
    assert machine.state(match) == (MatchState.PENDING, 0, 0)
    assert "takes no match" in machine.host.log


@pytest.mark.long
def test_a_level_that_the_machine_does_not_offer_ends_the_command(
    machine: WorkerMachine,
) -> None:
    with machine.host.worker("--sandbox", "bubblewrap") as process:
        assert process.wait() == 3
    assert "POKEARENA_SANDBOX is bubblewrap" in machine.host.output.read_text()
