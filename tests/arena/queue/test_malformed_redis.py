"""Test that malformed items in Redis are removed and counted, and that matches continue."""

import pickle

import pytest

from arena.events import incidents
from arena.queue import match_queue
from arena.queue.match_queue import MatchQueue
from tests.arena.queue.test_sweeper import MATCHES, SweeperHarness, harness

__all__ = ["harness"]

GARBAGE = [b"\xff\xfe", b"", b"a b", b"x" * 100_000, pickle.dumps(print), b'{"match": 1}']


@pytest.mark.parametrize("key", ["rq:queue:matches", "rq:queue:matches:intermediate"])
def test_malformed_items_are_removed_and_counted(harness: SweeperHarness, key: str) -> None:
    harness.connection.rpush(key, *GARBAGE)
    assert harness.sweeper().sweep() == MATCHES
    assert harness.queue.waiting() == harness.matches
    assert incidents.read(harness.connection).discarded == len(GARBAGE)
    assert harness.sweeper().sweep() == 0


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
def test_a_key_of_another_type_is_replaced(harness: SweeperHarness, key: str) -> None:
    harness.connection.hset(key, "field", b"\xff")
    assert harness.sweeper().sweep() == MATCHES
    assert harness.queue.waiting() == harness.matches
    assert match_queue.workers(harness.connection) == ()


def test_a_job_of_another_type_is_replaced(harness: SweeperHarness) -> None:
    harness.connection.set(f"rq:job:{harness.matches[0]}", b"\xff")
    harness.connection.set(b"rq:job:\xff", b"")
    assert harness.sweeper().sweep() == MATCHES
    assert harness.queue.waiting() == harness.matches


def test_a_worker_key_of_another_type_is_ignored(harness: SweeperHarness) -> None:
    harness.connection.sadd("rq:workers:matches", "rq:worker:a", "rq:worker:b", b"\xff")
    harness.connection.set("rq:worker:a", b"")
    harness.connection.hset("rq:worker:b", mapping={"pid": "no number"})
    assert match_queue.workers(harness.connection) == ()


def test_the_sweeper_counts_an_unexpected_error_and_continues(
    harness: SweeperHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []
    enqueue_due = MatchQueue.enqueue_due

    def fail_once(
        queue: MatchQueue, due: tuple[str, ...], urgent: tuple[str, ...], waiting: list[str]
    ) -> int:
        attempts.append(len(due))
        if len(attempts) == 1:
            raise ValueError("unexpected")
        return enqueue_due(queue, due, urgent, waiting)

    monkeypatch.setattr(MatchQueue, "enqueue_due", fail_once)
    monkeypatch.setattr("arena.queue.sweeper.PAUSE_SECONDS", 0.01)
    sweeper = harness.sweeper()
    sweeper.start()
    while harness.queue.waiting() != harness.matches:
        pass
    sweeper.stop()
    assert sweeper.failures == 1
    troubles = incidents.read(harness.connection)
    assert troubles.failures == {"sweeper": 1}
    assert troubles.errors == {"sweeper": "ValueError: unexpected"}
