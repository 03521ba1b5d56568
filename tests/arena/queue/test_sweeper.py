"""Test that the sweeper enqueues every due match, with a real Valkey and SQLite."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import Engine, text

from arena.config import Folder
from arena.errors import LeaseLost
from arena.queue import redis_server, sweeper
from arena.queue.match_queue import MatchQueue, SandboxState
from arena.queue.sweeper import Sweeper
from arena.store import database
from arena.store.bots import pushed_versions, versions
from arena.store.match_settings import TournamentPlan
from arena.store.matches import listing, transitions
from arena.store.matches.games import PlayedGame
from arena.store.tournaments import lifecycle, tournaments
from arena.system import redis_connection
from arena.system.process_log import ProcessLog
from arena.tournaments import scheduler
from tests.arena.pushed_version import add_pushed_version
from tests.arena.registered_worker import register_worker
from tests.examples import examples
from tests.waiting import wait_until

MATCHES = 4


def played(number: int) -> PlayedGame:
    """Return a game of a match of one board, at the table of the same number."""
    return PlayedGame(number, number, 0, "", (1, 2), (1, 0), ("finished",) * 2, (0, 0), {})


class SweeperHarness:
    """Provide a store with due matches, an empty queue, and sweepers for them."""

    def __init__(self, engine: Engine, connection: Redis) -> None:
        self.engine = engine
        self.connection = connection
        self.queue = MatchQueue(connection)
        for name in "ab":
            versions.add(engine, name, "1", name * 64, f"/{name}", {})
        plan = TournamentPlan(
            name="cup",
            game="poke",
            options={"must_beat": True},
            seats=2,
            boards=1,
            settings={"cycles": MATCHES},
        )
        scheduler.begin(engine, plan, ["a@1", "b@1"])
        self.matches = [match.id for match in listing.matches(engine)]

    def sweeper(self) -> Sweeper:
        return Sweeper(self.engine, self.connection, threading.Event())

    def play_next(self, its_sweeper: Sweeper) -> str:
        """Play the first match of the queue as a worker would; return its tournament."""
        match = self.queue.waiting()[0]
        self.queue.remove(match)
        lease = transitions.lease(self.engine, match, "w1")
        assert lease is not None
        for number in range(lease.spec.games):
            transitions.commit_game(self.engine, lease, played(number))
        its_sweeper.sweep()
        return lease.spec.tournament or ""


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[SweeperHarness]:
    """Create a harness with its own Redis and store."""
    where = Folder(tmp_path / "data").create()
    engine = database.open(where.database_url({}))
    database.upgrade(engine)
    with redis_server.resolve(where, {}) as address:
        connection = redis_connection.connect(address.url)
        yield SweeperHarness(engine, connection)
        connection.close()
    engine.dispose()


def test_every_due_match_is_enqueued_once_in_order(harness: SweeperHarness) -> None:
    assert harness.sweeper().sweep() == MATCHES
    assert harness.sweeper().sweep() == 0
    assert harness.queue.waiting() == harness.matches


def test_sweeps_end_when_a_newer_release_has_upgraded_the_database(harness: SweeperHarness) -> None:
    sweeper = harness.sweeper()
    with database.writing(harness.engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    sweeper.start()
    wait_until(lambda: sweeper.outdated is not None)
    assert sweeper.outdated is not None
    assert sweeper.outdated.code == database.NEWER_VERSION
    sweeper.stop()
    assert harness.queue.waiting() == []


def test_a_leased_match_is_not_enqueued(harness: SweeperHarness) -> None:
    transitions.lease(harness.engine, harness.matches[0], "w1")
    harness.sweeper().sweep()
    assert harness.queue.waiting() == harness.matches[1:]


def test_a_match_with_a_lapsed_lease_is_enqueued_again(harness: SweeperHarness) -> None:
    transitions.lease(harness.engine, harness.matches[0], "w1", seconds=0)
    harness.sweeper().sweep()
    assert harness.queue.waiting() == harness.matches


def test_jobs_of_closed_matches_are_removed(harness: SweeperHarness) -> None:
    for match in harness.matches:
        harness.queue.enqueue(match)
        harness.connection.lrem("rq:queue:matches", 0, match)
    transitions.void(harness.engine, harness.matches[0], "The test voids it.")
    assert harness.queue.job_ids() == sorted(harness.matches)
    harness.sweeper().sweep()
    assert harness.queue.job_ids() == sorted(harness.matches[1:])


def test_matches_of_pushed_versions_wait_for_a_worker_that_plays_them(
    harness: SweeperHarness,
) -> None:
    refuses = SandboxState("landlock", "landlock", plays_pushed=False)
    register_worker(harness.connection, "w1", refuses)
    plan = TournamentPlan(name="house", game="poke", options={"must_beat": True}, seats=2, boards=1)
    versions.add(harness.engine, "c", "1", "c" * 64, "/c", {})
    house = scheduler.begin(harness.engine, plan, ["b@1", "c@1"])
    add_pushed_version(harness.engine, versions.find(harness.engine, "a@1"))
    assert harness.sweeper().sweep() == 1
    [waiting] = harness.queue.waiting()
    assert listing.find(harness.engine, waiting).tournament == house.id
    assert pushed_versions.pushed_in(harness.engine, harness.matches[0]) == ("a@1",)
    assert pushed_versions.pushed_in(harness.engine, waiting) == ()
    # Another worker accepts the level, or has a better one.
    register_worker(harness.connection, "w2", SandboxState("landlock", "landlock"))
    assert harness.sweeper().sweep() == MATCHES


def test_a_cancelled_match_of_a_pushed_version_does_not_wait(harness: SweeperHarness) -> None:
    register_worker(harness.connection, "w1", SandboxState("landlock", plays_pushed=False))
    add_pushed_version(harness.engine, versions.find(harness.engine, "a@1"))
    transitions.lease(harness.engine, harness.matches[0], "lost", seconds=0)
    [tournament] = tournaments.listing(harness.engine)
    lifecycle.cancel(harness.engine, tournament.id)
    harness.sweeper().sweep()
    assert harness.queue.waiting() == harness.matches[:1]


def test_the_queue_is_bounded(harness: SweeperHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "LONGEST_QUEUE", 2)
    harness.sweeper().sweep()
    harness.sweeper().sweep()
    assert harness.queue.waiting() == harness.matches[:2]


def test_an_old_ladder_that_always_has_due_matches_starves_no_other(
    tmp_path: Path, harness: SweeperHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest_queue = 6
    monkeypatch.setattr(sweeper, "LONGEST_QUEUE", longest_queue)
    lifecycle.cancel(harness.engine, listing.matches(harness.engine)[0].tournament)
    ladder = TournamentPlan(
        name="old", game="poke", options={"must_beat": True}, seats=2, boards=1, format="ladder"
    )
    old = scheduler.begin(harness.engine, replace(ladder, settings={"batch": 20}), ["a@1", "b@1"])
    new_sweeper = harness.sweeper()
    new_sweeper.sweep()
    begun = [harness.play_next(new_sweeper) for _ in range(10)]
    assert set(begun) == {old.id}

    young = scheduler.begin(harness.engine, replace(ladder, name="young"), ["a@1", "b@1"])
    challenge = scheduler.begin(harness.engine, replace(ladder, format="challenge"), ["a@1", "b@1"])
    new_sweeper.sweep()
    assert harness.play_next(new_sweeper) == challenge.id
    # A match of the young ladder waits only for those that were in the queue before it.
    for _ in range(examples(10, 4)):
        begun = [harness.play_next(new_sweeper) for _ in range(longest_queue + 1)]
        assert {old.id, young.id} == set(begun)
    assert tournaments.progress(harness.engine, old.id).pending > longest_queue


def test_a_new_tournament_precedes_waiting_matches_of_ladders_three_times_out_of_four(
    harness: SweeperHarness,
) -> None:
    lifecycle.cancel(harness.engine, listing.matches(harness.engine)[0].tournament)
    plan = TournamentPlan(
        name="ladder",
        game="poke",
        options={"must_beat": True},
        seats=2,
        boards=1,
        format="ladder",
        settings={"batch": 20},
    )
    ladder = scheduler.begin(harness.engine, plan, ["a@1", "b@1"])
    its_sweeper = harness.sweeper()
    its_sweeper.sweep()
    assert harness.play_next(its_sweeper) == ladder.id
    plan = TournamentPlan(
        name="cup",
        game="poke",
        options={"must_beat": True},
        seats=2,
        boards=1,
        settings={"cycles": 8},
    )
    cup = scheduler.begin(harness.engine, plan, ["a@1", "b@1"])
    its_sweeper.sweep()
    begun = [harness.play_next(its_sweeper) for _ in range(12)]
    three_and_one = [cup.id, cup.id, cup.id, ladder.id]
    assert begun == [*three_and_one, *three_and_one, cup.id, cup.id, ladder.id, ladder.id]


def test_two_concurrent_sweepers_enqueue_every_match_once(harness: SweeperHarness) -> None:
    start = threading.Barrier(2)

    def sweep() -> None:
        start.wait()
        for _ in range(20):
            harness.sweeper().sweep()

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(harness.queue.waiting()) == sorted(harness.matches)


def test_the_match_of_an_exited_worker_is_due_at_once_and_its_lease_is_lost(
    harness: SweeperHarness,
) -> None:
    lease = transitions.lease(harness.engine, harness.matches[0], "w1")
    other = transitions.lease(harness.engine, harness.matches[1], "w2")
    assert lease is not None
    assert other is not None
    harness.connection.sadd("rq:workers", "rq:worker:w1")
    new_sweeper = harness.sweeper()
    new_sweeper.forget_worker("w1")
    new_sweeper.sweep()
    assert harness.queue.waiting() == [harness.matches[0], *harness.matches[2:]]
    assert not harness.connection.exists("rq:workers")
    with pytest.raises(LeaseLost):
        transitions.commit_game(harness.engine, lease, played(0))
    assert not transitions.renew(harness.engine, lease)
    assert transitions.renew(harness.engine, other)


def test_a_sweeper_continues_when_redis_is_back(tmp_path: Path, harness: SweeperHarness) -> None:
    sockets = tmp_path / "s"
    sockets.mkdir()
    wake = threading.Event()
    log = ProcessLog(tmp_path / "redis.log")
    server = redis_server.start(sockets, log)
    connection = redis_connection.connect(server.url)
    server.stop()
    new_sweeper = Sweeper(harness.engine, connection, wake)
    new_sweeper.start()
    with redis_server.start(sockets, log):
        while MatchQueue(connection).waiting() != harness.matches:
            wake.set()
        new_sweeper.stop()
        connection.close()
