"""Anything may lie in Redis: malformed items are removed and counted, and matches go on."""

import pickle

import pytest

from arena.events import incidents
from arena.queue import match_queue
from arena.queue.match_queue import MatchQueue
from tests.arena.queue.test_sweeper import MATCHES, Bench, bench

__all__ = ["bench"]

GARBAGE = [b"\xff\xfe", b"", b"a b", b"x" * 100_000, pickle.dumps(print), b'{"match": 1}']


@pytest.mark.parametrize("key", ["rq:queue:matches", "rq:queue:matches:intermediate"])
def test_malformed_items_are_removed_and_counted(bench: Bench, key: str) -> None:
    bench.connection.rpush(key, *GARBAGE)
    assert bench.sweeper().sweep() == MATCHES
    assert bench.hints.waiting() == bench.matches
    assert incidents.read(bench.connection).discarded == len(GARBAGE)
    assert bench.sweeper().sweep() == 0


@pytest.mark.parametrize(
    "key",
    [
        "rq:queue:matches",
        "rq:queue:matches:intermediate",
        "rq:wip:matches",
        "rq:finished:matches",
        "rq:failed:matches",
        "rq:deferred:matches",
        "rq:scheduled:matches",
        "rq:canceled:matches",
        "rq:groups",
        "rq:workers:matches",
        "rq:workers",
    ],
)
def test_a_key_of_another_type_is_replaced(bench: Bench, key: str) -> None:
    bench.connection.hset(key, "field", b"\xff")
    assert bench.sweeper().sweep() == MATCHES
    assert bench.hints.waiting() == bench.matches
    assert match_queue.workers(bench.connection) == ()


def test_a_job_of_another_type_is_replaced(bench: Bench) -> None:
    bench.connection.set(f"rq:job:{bench.matches[0]}", b"\xff")
    bench.connection.set(b"rq:job:\xff", b"")
    assert bench.sweeper().sweep() == MATCHES
    assert bench.hints.waiting() == bench.matches


def test_a_worker_of_another_type_is_no_worker(bench: Bench) -> None:
    bench.connection.sadd("rq:workers:matches", "rq:worker:a", "rq:worker:b", b"\xff")
    bench.connection.set("rq:worker:a", b"")
    bench.connection.hset("rq:worker:b", mapping={"pid": "no number"})
    assert match_queue.workers(bench.connection) == ()


def test_an_unexpected_error_is_counted_and_does_not_end_the_sweeper(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []
    put_due = MatchQueue.put_due

    def fail_once(hints: MatchQueue, due: tuple[str, ...]) -> int:
        attempts.append(len(due))
        if len(attempts) == 1:
            raise ValueError("unexpected")
        return put_due(hints, due)

    monkeypatch.setattr(MatchQueue, "put_due", fail_once)
    monkeypatch.setattr("arena.queue.sweeper._PAUSE_SECONDS", 0.01)
    sweeper = bench.sweeper()
    sweeper.start()
    while bench.hints.waiting() != bench.matches:
        pass
    sweeper.stop()
    assert sweeper.failures == 1
    troubles = incidents.read(bench.connection)
    assert troubles.failures == {"sweeper": 1}
    assert troubles.errors == {"sweeper": "ValueError: unexpected"}
