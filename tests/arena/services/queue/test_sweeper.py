"""Test that the sweeper enqueues every due match, with a real Valkey and SQLite."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import Engine, text

from arena.config import Folder
from arena.errors import LeaseLost
from arena.ratings.closed_match import PlayedGame
from arena.services.queue import redis_server, sweeper
from arena.services.queue.match_queue import MatchQueue
from arena.services.queue.sweeper import SHORTEST_QUEUE, Sweeper, queue_length
from arena.services.queue.worker import MatchWorker
from arena.services.queue.worker_registrations import (
    MODELS_QUEUE,
    SandboxState,
    forget_worker,
    workers,
)
from arena.store import database
from arena.store.bots import pushed_versions, versions
from arena.store.match_settings import USUAL_CLOCKS, ClockClass, TournamentPlan
from arena.store.matches import listing, match_leases
from arena.store.tournaments import lifecycle, tournaments
from arena.system import redis_connection
from arena.system.process_log import ProcessLog
from arena.tournaments import scheduler
from tests.arena.poke_plan import poke_plan
from tests.arena.pushed_version import add_pushed_version
from tests.arena.registered_worker import add_worker
from tests.examples import examples, quick_cases
from tests.waiting import wait_until

MATCHES = 4
CUP = poke_plan()
MODEL_CUP = poke_plan(name="models", clock=USUAL_CLOCKS[ClockClass.MODEL])
LADDER = poke_plan(name="ladder", format="ladder")


def played(number: int) -> PlayedGame:
    """Return a game of a match of one board, at the table of the same number."""
    return PlayedGame(number, (1, 2), (1, 0), ("finished",) * 2, (0, 0), table=number)


class SweeperHarness:
    """Provide a store with due matches, an empty queue, and sweepers for them."""

    def __init__(self, engine: Engine, connection: Redis) -> None:
        self.engine = engine
        self.connection = connection
        self.queue = MatchQueue(connection)
        for name in "ab":
            versions.add_version(engine, name, "1", name * 64, f"/{name}", {})
        plan = poke_plan(settings={"cycles": MATCHES})
        scheduler.begin(engine, plan, ["a@1", "b@1"])
        self.matches = [match.id for match in listing.matches(engine)]

    def sweeper(self, clock: Callable[[], float] = time.monotonic) -> Sweeper:
        return Sweeper(self.engine, self.connection, clock=clock)

    def begin(self, plan: TournamentPlan, **settings: int) -> str:
        """Schedule a tournament of the two bots; return its id."""
        return scheduler.begin(self.engine, replace(plan, settings=settings), ["a@1", "b@1"]).id

    def cancel_first(self) -> None:
        """Cancel the tournament that the harness began with."""
        lifecycle.cancel(self.engine, listing.matches(self.engine)[0].tournament)

    def take(self) -> str:
        """Take the next job."""
        taken = self.connection.lpop("rq:queue:matches")
        assert isinstance(taken, bytes)
        return taken.decode()

    def play_next(self, its_sweeper: Sweeper) -> str:
        """Play the first match of the queue as a worker would; return its tournament."""
        tournament = self.play(self.take())
        its_sweeper.sweep()
        return tournament

    def play(self, match: str) -> str:
        """Play a match; return its tournament."""
        lease = match_leases.lease(self.engine, match, "w1")
        assert lease is not None
        for number in range(lease.spec.games):
            match_leases.commit_game(self.engine, lease, played(number))
        return lease.spec.tournament or ""


@pytest.fixture
def harness(redis_url: str, tmp_path: Path) -> Iterator[SweeperHarness]:
    """Create a harness with an empty Redis and its own store."""
    where = Folder(tmp_path / "data").create()
    engine = database.open(where.database_url({}))
    database.upgrade(engine)
    connection = redis_connection.connect(redis_url)
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
    match_leases.lease(harness.engine, harness.matches[0], "w1")
    harness.sweeper().sweep()
    assert harness.queue.waiting() == harness.matches[1:]


def test_a_match_with_a_lapsed_lease_is_enqueued_again(harness: SweeperHarness) -> None:
    match_leases.lease(harness.engine, harness.matches[0], "w1", seconds=0)
    harness.sweeper().sweep()
    assert harness.queue.waiting() == harness.matches


def test_a_match_that_a_worker_has_just_taken_is_not_enqueued_again(
    harness: SweeperHarness,
) -> None:
    add_worker(harness.connection, "w1", SandboxState(), match=harness.matches[0])
    harness.sweeper().sweep()
    assert harness.queue.waiting() == harness.matches[1:]


def test_a_lapsed_match_is_enqueued_although_a_frozen_process_seems_to_play_it(
    harness: SweeperHarness,
) -> None:
    add_worker(harness.connection, "w1", SandboxState(), match=harness.matches[1])
    match_leases.lease(harness.engine, harness.matches[1], "w1", seconds=0)
    harness.sweeper().sweep()
    assert sorted(harness.queue.waiting()) == sorted(harness.matches)


def test_a_match_that_workers_refuse_is_enqueued_once_a_second(harness: SweeperHarness) -> None:
    now = 0.0
    its_sweeper = harness.sweeper(lambda: now)
    assert its_sweeper.sweep() == MATCHES
    refused = harness.take()
    now = 0.9
    assert its_sweeper.sweep() == 0
    now = 1.0
    assert its_sweeper.sweep() == 1
    assert harness.queue.waiting() == [*harness.matches[1:], refused]


def test_a_sweeper_fills_a_half_empty_queue_when_a_worker_takes_a_match(
    harness: SweeperHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "PAUSE_SECONDS", 600.0)
    harness.cancel_first()
    harness.begin(CUP, cycles=3 * SHORTEST_QUEUE)
    its_sweeper = harness.sweeper()
    its_sweeper.start()
    wait_until(lambda: len(harness.queue) == SHORTEST_QUEUE)
    MatchWorker(harness.connection, lambda match, drain: None).run(max_jobs=SHORTEST_QUEUE // 2)
    wait_until(lambda: len(harness.queue) == SHORTEST_QUEUE)
    its_sweeper.stop()


def test_the_queue_is_filled_while_matches_are_scheduled(
    harness: SweeperHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()
    monkeypatch.setattr(scheduler.Scheduler, "advance", lambda self: goes_on.wait())
    its_sweeper = harness.sweeper()
    its_sweeper.start()
    wait_until(lambda: len(harness.queue) == MATCHES)
    goes_on.set()
    its_sweeper.stop()


def test_the_next_round_follows_the_last_match_at_once(
    harness: SweeperHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "PAUSE_SECONDS", 600.0)
    harness.cancel_first()
    harness.begin(replace(CUP, format="swiss"), rounds=2)
    its_sweeper = harness.sweeper()
    its_sweeper.start()
    wait_until(lambda: len(harness.queue) == 1)
    harness.play(harness.take())
    harness.queue.wake_sweeper()
    wait_until(lambda: len(harness.queue) == 1)
    its_sweeper.stop()


def test_matches_of_pushed_versions_wait_for_a_worker_that_plays_them(
    harness: SweeperHarness,
) -> None:
    refuses = SandboxState("landlock", "landlock", plays_pushed=False)
    add_worker(harness.connection, "w1", refuses)
    plan = poke_plan(name="house")
    versions.add_version(harness.engine, "c", "1", "c" * 64, "/c", {})
    house = scheduler.begin(harness.engine, plan, ["b@1", "c@1"])
    add_pushed_version(harness.engine, versions.find_version(harness.engine, "a@1"))
    assert harness.sweeper().sweep() == 1
    [waiting] = harness.queue.waiting()
    assert listing.find_match(harness.engine, waiting).tournament == house.id
    assert pushed_versions.pushed_in(harness.engine, harness.matches[0]) == ("a@1",)
    assert pushed_versions.pushed_in(harness.engine, waiting) == ()
    # Another worker accepts the level, or has a better one.
    add_worker(harness.connection, "w2", SandboxState("landlock", "landlock"))
    assert harness.sweeper().sweep() == MATCHES


def model_matches(harness: SweeperHarness) -> list[str]:
    """Schedule matches of the clock class `model`; return them."""
    tournament = harness.begin(MODEL_CUP, cycles=3)
    return [match.id for match in listing.matches(harness.engine, tournament=tournament)]


def test_matches_of_models_are_in_a_queue_of_their_own_while_a_worker_listens_to_it(
    harness: SweeperHarness,
) -> None:
    models, queue = model_matches(harness), MatchQueue(harness.connection, MODELS_QUEUE)
    both = sorted(harness.matches + models)
    its_sweeper = harness.sweeper()
    its_sweeper.sweep()
    assert sorted(harness.queue.waiting()) == both
    add_worker(harness.connection, "w1", queue=MODELS_QUEUE)
    its_sweeper.sweep()
    assert harness.queue.waiting() == harness.matches
    assert queue.waiting() == models
    assert its_sweeper.sweep() == 0
    forget_worker(harness.connection, "w1")
    # The matches of both queues were enqueued less than a second ago.
    its_sweeper.sweep()
    assert sorted(harness.queue.waiting()) == both
    assert queue.waiting() == []


def test_matches_of_models_wait_for_the_workers_that_start_with_the_sweeper(
    harness: SweeperHarness,
) -> None:
    models = model_matches(harness)
    Sweeper(harness.engine, harness.connection, model_workers=True).sweep()
    assert harness.queue.waiting() == harness.matches
    assert MatchQueue(harness.connection, MODELS_QUEUE).waiting() == models


def test_many_matches_of_models_do_not_fill_the_queue_of_the_others(
    harness: SweeperHarness,
) -> None:
    harness.cancel_first()
    add_worker(harness.connection, "w1", queue=MODELS_QUEUE)
    harness.begin(MODEL_CUP, cycles=3 * SHORTEST_QUEUE)
    its_sweeper = harness.sweeper()
    assert its_sweeper.sweep() == SHORTEST_QUEUE
    fast = harness.begin(replace(CUP, name="fast"), cycles=2)
    assert its_sweeper.sweep() == 2
    assert {harness.play_next(its_sweeper) for _ in range(2)} == {fast}


def test_a_cancelled_match_of_a_pushed_version_does_not_wait(harness: SweeperHarness) -> None:
    add_worker(harness.connection, "w1", SandboxState("landlock", plays_pushed=False))
    add_pushed_version(harness.engine, versions.find_version(harness.engine, "a@1"))
    match_leases.lease(harness.engine, harness.matches[0], "lost", seconds=0)
    [tournament] = tournaments.list_tournaments(harness.engine)
    lifecycle.cancel(harness.engine, tournament.id)
    harness.sweeper().sweep()
    assert harness.queue.waiting() == harness.matches[:1]


def test_the_queue_grows_with_the_number_of_workers(harness: SweeperHarness) -> None:
    harness.begin(CUP, cycles=20)
    harness.sweeper().sweep()
    assert len(harness.queue) == SHORTEST_QUEUE
    for number in range(6):
        add_worker(harness.connection, f"w{number}", SandboxState())
    harness.sweeper().sweep()
    assert len(harness.queue) == 12


@pytest.mark.parametrize(
    ("workers", "length"), [(0, 8), (4, 8), (5, 12), (8, 16), (9, 20), (1000, 2000)]
)
def test_about_two_jobs_wait_per_worker(workers: int, length: int) -> None:
    assert queue_length(workers) == length


def test_an_old_ladder_that_always_has_due_matches_starves_no_other(
    harness: SweeperHarness,
) -> None:
    harness.cancel_first()
    old = harness.begin(LADDER, batch=20)
    its_sweeper = harness.sweeper()
    its_sweeper.sweep()
    assert {harness.play_next(its_sweeper) for _ in range(10)} == {old}

    young = harness.begin(replace(LADDER, name="young"), batch=4)
    challenge = harness.begin(replace(LADDER, format="challenge"))
    its_sweeper.sweep()
    assert harness.play_next(its_sweeper) == challenge
    # A match of the young ladder waits only for those that were in the queue before it.
    for _ in range(examples(10, 4)):
        begun = {harness.play_next(its_sweeper) for _ in range(SHORTEST_QUEUE + 1)}
        assert begun == {old, young}
    assert tournaments.progress(harness.engine, old).pending > SHORTEST_QUEUE


@pytest.mark.parametrize("registered", quick_cases([0, 5], 1))
def test_three_matches_of_tournaments_are_played_for_each_of_a_ladder(
    harness: SweeperHarness, registered: int
) -> None:
    for number in range(registered):
        add_worker(harness.connection, f"w{number}", SandboxState())
    length = queue_length(registered)
    harness.cancel_first()
    ladder = harness.begin(LADDER, batch=60)
    its_sweeper = harness.sweeper()
    its_sweeper.sweep()
    assert harness.play_next(its_sweeper) == ladder
    cup = harness.begin(CUP, cycles=3 * length)
    its_sweeper.sweep()
    # A new tournament waits only for the short queue.
    assert [harness.play_next(its_sweeper) for _ in range(length)] == [ladder] * length
    for _ in range(2):
        begun = [harness.play_next(its_sweeper) for _ in range(length)]
        assert begun.count(cup) == 3 * length // 4
    # Without other matches, those of the ladder follow one another.
    begun = [harness.play_next(its_sweeper) for _ in range(4 * length)]
    assert begun.count(cup) == 3 * length // 2
    assert begun[-length:] == [ladder] * length


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
    lease = match_leases.lease(harness.engine, harness.matches[0], "w1")
    other = match_leases.lease(harness.engine, harness.matches[1], "w2")
    assert lease is not None
    assert other is not None
    add_worker(harness.connection, "w1", SandboxState(), match=harness.matches[0])
    new_sweeper = harness.sweeper()
    new_sweeper.forget_worker("w1")
    new_sweeper.sweep()
    assert harness.queue.waiting() == [harness.matches[0], *harness.matches[2:]]
    assert workers(harness.connection) == ()
    with pytest.raises(LeaseLost):
        match_leases.commit_game(harness.engine, lease, played(0))
    assert not match_leases.renew(harness.engine, lease)
    assert match_leases.renew(harness.engine, other)


def test_a_sweeper_continues_when_redis_is_back(tmp_path: Path, harness: SweeperHarness) -> None:
    sockets = tmp_path / "s"
    sockets.mkdir()
    log = ProcessLog(tmp_path / "redis.log")
    server = redis_server.start(sockets, log)
    connection = redis_connection.connect(server.url)
    server.stop()
    new_sweeper = Sweeper(harness.engine, connection)
    new_sweeper.start()
    with redis_server.start(sockets, log):
        while MatchQueue(connection).waiting() != harness.matches:
            new_sweeper.wake()
        new_sweeper.stop()
        connection.close()
