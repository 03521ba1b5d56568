"""The sweeper keeps a hint in the queue for every match that is due: real Valkey, real SQLite."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import Engine

from arena.config import Folder
from arena.errors import LeaseLost
from arena.queue import redis_server, sweeper
from arena.queue.match_queue import MatchQueue
from arena.queue.sweeper import Sweeper
from arena.store import database
from arena.store.bots import versions
from arena.store.matches import listing, transitions
from arena.store.matches.games import PlayedGame
from arena.store.matches.spec import TournamentPlan
from arena.system import redis_connection
from arena.tournaments import scheduler

MATCHES = 4


class Bench:
    """A store with matches that are due, an empty queue, and sweepers to be made for them."""

    def __init__(self, engine: Engine, connection: Redis) -> None:
        self.engine = engine
        self.connection = connection
        self.hints = MatchQueue(connection)
        for name in "ab":
            versions.add(engine, name, "1", name * 64, f"/{name}", {})
        plan = TournamentPlan(
            "cup", "poke", {"must_beat": True}, 2, 1, settings={"cycles": MATCHES}
        )
        scheduler.begin(engine, plan, ["a@1", "b@1"])
        self.matches = [match.id for match in listing.matches(engine)]

    def sweeper(self) -> Sweeper:
        """A sweeper."""
        return Sweeper(self.engine, self.connection, threading.Event())


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """The bench."""
    where = Folder(tmp_path / "data").create()
    engine = database.open(where.database_url({}))
    database.upgrade(engine)
    with redis_server.resolve(where, {}) as address:
        connection = redis_connection.connect(address.url)
        yield Bench(engine, connection)
        connection.close()
    engine.dispose()


def test_every_match_that_is_due_gets_one_hint_in_order(bench: Bench) -> None:
    assert bench.sweeper().sweep() == MATCHES
    assert bench.sweeper().sweep() == 0
    assert bench.hints.waiting() == bench.matches


def test_a_match_that_is_played_gets_no_hint(bench: Bench) -> None:
    transitions.lease(bench.engine, bench.matches[0], "w1")
    bench.sweeper().sweep()
    assert bench.hints.waiting() == bench.matches[1:]


def test_a_match_whose_lease_has_lapsed_gets_a_hint_again(bench: Bench) -> None:
    transitions.lease(bench.engine, bench.matches[0], "w1", seconds=0)
    bench.sweeper().sweep()
    assert bench.hints.waiting() == bench.matches


def test_what_a_killed_worker_left_of_a_match_that_is_over_is_forgotten(bench: Bench) -> None:
    for match in bench.matches:
        bench.hints.put(match)
        bench.connection.lrem("rq:queue:matches", 0, match)
    transitions.void(bench.engine, bench.matches[0], "It is over.")
    assert bench.hints.known() == sorted(bench.matches)
    bench.sweeper().sweep()
    assert bench.hints.known() == sorted(bench.matches[1:])


def test_the_queue_is_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "LONGEST_QUEUE", 2)
    bench.sweeper().sweep()
    bench.sweeper().sweep()
    assert bench.hints.waiting() == bench.matches[:2]


def test_two_sweepers_at_once_put_every_hint_once(bench: Bench) -> None:
    start = threading.Barrier(2)

    def sweep() -> None:
        start.wait()
        for _ in range(20):
            bench.sweeper().sweep()

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(bench.hints.waiting()) == sorted(bench.matches)


def test_what_a_buried_worker_had_is_due_at_once_and_it_can_write_no_more(bench: Bench) -> None:
    lease = transitions.lease(bench.engine, bench.matches[0], "w1")
    other = transitions.lease(bench.engine, bench.matches[1], "w2")
    assert lease is not None
    assert other is not None
    bench.connection.sadd("rq:workers", "rq:worker:w1")
    mine = bench.sweeper()
    mine.forget_worker("w1")
    mine.sweep()
    assert bench.hints.waiting() == [bench.matches[0], *bench.matches[2:]]
    assert not bench.connection.exists("rq:workers")
    game = PlayedGame(0, 0, 0, "", (1, 2), (1, 0), ("finished",) * 2, (0, 0), {})
    with pytest.raises(LeaseLost):
        transitions.commit_game(bench.engine, lease, game)
    assert not transitions.renew(bench.engine, lease)
    assert transitions.renew(bench.engine, other)


def test_a_sweeper_goes_on_when_redis_has_been_away(tmp_path: Path, bench: Bench) -> None:
    sockets = tmp_path / "s"
    sockets.mkdir()
    wake = threading.Event()
    log = tmp_path / "redis.log"
    server = redis_server.start(sockets, log)
    connection = redis_connection.connect(server.url)
    server.stop()
    mine = Sweeper(bench.engine, connection, wake)
    mine.start()
    with redis_server.start(sockets, log):
        while MatchQueue(connection).waiting() != bench.matches:
            wake.set()
        mine.stop()
        connection.close()
