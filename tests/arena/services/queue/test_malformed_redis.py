"""Test that malformed items in Redis are removed and counted, and that matches continue."""

import pickle
from collections.abc import Collection

import pytest

from arena.services.queue import worker_registrations
from arena.services.queue.match_queue import MatchQueue
from arena.store.events import incidents
from tests.arena.services.queue.test_sweeper import MATCHES, SweeperHarness, harness
from tests.waiting import wait_until

__all__ = ["harness"]

GARBAGE = [b"\xff\xfe", b"", b"a b", b"x" * 100_000, pickle.dumps(print), b'{"match": 1}']
KEYS = (
    *("rq:queue:matches", "rq:queue:matches:intermediate", "rq:wip:matches", "rq:finished:matches"),
    *("rq:failed:matches", "rq:deferred:matches", "rq:scheduled:matches", "rq:canceled:matches"),
    *("rq:groups", "rq:workers:matches", "rq:workers", "rq:queues"),
    *("pokearena:wake", "pokearena:workers", "pokearena:worker_hosts"),
)


@pytest.mark.parametrize("key", ["rq:queue:matches", "rq:queue:matches:intermediate"])
def test_malformed_items_are_removed_and_counted(harness: SweeperHarness, key: str) -> None:
    harness.connection.rpush(key, *GARBAGE)
    assert harness.sweeper().sweep() == MATCHES
    assert harness.queue.waiting() == harness.matches
    assert incidents.read(harness.connection).discarded == len(GARBAGE)
    assert harness.sweeper().sweep() == 0


def test_keys_of_another_type_are_replaced(harness: SweeperHarness) -> None:
    for key in KEYS:
        harness.connection.hset(key, "field", b"\xff")
    assert harness.sweeper().sweep() == MATCHES
    assert harness.queue.waiting() == harness.matches
    assert [key for key in KEYS if harness.connection.type(key) == b"hash"] == []
    assert worker_registrations.workers(harness.connection) == ()


def test_a_job_of_another_type_is_replaced(harness: SweeperHarness) -> None:
    harness.connection.set(f"rq:job:{harness.matches[0]}", b"\xff")
    harness.connection.set(b"rq:job:\xff", b"")
    assert harness.sweeper().sweep() == MATCHES
    assert harness.queue.waiting() == harness.matches


def test_a_worker_key_of_another_type_is_ignored(harness: SweeperHarness) -> None:
    harness.connection.sadd("pokearena:workers", "a", "b", "c", b"\xff")
    harness.connection.set("pokearena:worker:a", b"\xff")
    harness.connection.hset("pokearena:worker:b", mapping={"pid": "no number"})
    harness.connection.set("pokearena:worker:c", '{"name": "c", "host": "h", "pid": "1"}')
    assert worker_registrations.workers(harness.connection) == ()


def test_the_sweeper_counts_an_unexpected_error_and_continues(
    harness: SweeperHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []
    enqueue = MatchQueue.enqueue

    def fail_once(queue: MatchQueue, *matches: str, first: Collection[str] = ()) -> int:
        attempts.append(len(matches))
        if len(attempts) == 1:
            raise ValueError("unexpected")
        return enqueue(queue, *matches, first=first)

    monkeypatch.setattr(MatchQueue, "enqueue", fail_once)
    monkeypatch.setattr("arena.services.queue.sweeper.PAUSE_SECONDS", 0.01)
    sweeper = harness.sweeper()
    sweeper.start()
    wait_until(lambda: harness.queue.waiting() == harness.matches)
    sweeper.stop()
    assert sweeper.failures == 1
    troubles = incidents.read(harness.connection)
    assert troubles.failures == {"sweeper": 1}
    assert troubles.errors == {"sweeper": "ValueError: unexpected"}
