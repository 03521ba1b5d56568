"""Test the match queue with a real Valkey and real RQ."""

import json
from collections.abc import Iterator

import pytest
from redis import Redis
from rq.job import Job
from rq.serializers import JSONSerializer

from arena.services.queue import match_job
from arena.services.queue.match_queue import MatchQueue
from arena.system import redis_connection
from tests.errors import has_code


@pytest.fixture
def connection(redis_url: str) -> Iterator[Redis]:
    client = redis_connection.connect(redis_url)
    yield client
    client.close()


@pytest.fixture
def queue(connection: Redis) -> MatchQueue:
    return MatchQueue(connection)


def test_urgent_matches_go_to_the_front_in_their_order(queue: MatchQueue) -> None:
    queue.enqueue("m-3", "m-4")
    assert queue.enqueue("m-6", "m-1", "m-7", "m-3", first=["m-6", "m-7"]) == 3
    assert queue.waiting() == ["m-6", "m-7", "m-3", "m-4", "m-1"]


def test_a_job_contains_the_match_id_as_json_and_expires(
    queue: MatchQueue, connection: Redis
) -> None:
    queue.enqueue("m-one")
    job = Job.fetch("m-one", connection=connection, serializer=JSONSerializer)
    assert json.loads(job.data) == [match_job.FUNCTION, None, ["m-one"], {}]
    assert 0 < int(connection.ttl("rq:job:m-one")) <= 3600


@pytest.mark.parametrize("match", ["", "m one", "m:1", "m" * 65, "../x"])
def test_an_invalid_match_id_is_refused(queue: MatchQueue, match: str) -> None:
    with pytest.raises(ValueError, check=has_code("match-id")):
        queue.enqueue("m-valid", match)
    assert not queue.waiting()


def test_a_match_that_waits_is_not_enqueued_again(queue: MatchQueue) -> None:
    assert queue.enqueue("m-two", "m-one") == 2
    assert queue.enqueue("m-one", "m-two", "m-three") == 1
    assert queue.waiting() == ["m-two", "m-one", "m-three"]


def test_the_job_of_a_killed_worker_is_replaced(queue: MatchQueue, connection: Redis) -> None:
    queue.enqueue("m-one")
    # This is the state that a worker leaves if it is killed right after it took the job.
    connection.lmove("rq:queue:matches", "rq:queue:matches:intermediate")
    assert queue.waiting() == []
    assert queue.enqueue("m-one") == 1
    assert queue.waiting() == ["m-one"]
    assert connection.llen("rq:queue:matches:intermediate") == 0


def test_lost_jobs_are_enqueued_again(queue: MatchQueue, connection: Redis) -> None:
    queue.enqueue("m-one", "m-two")
    connection.flushall()
    assert queue.enqueue("m-one", "m-two") == 2


def test_a_sweeper_is_woken_once_however_often_it_was_called(queue: MatchQueue) -> None:
    assert not queue.await_wake(0.01)
    for _ in range(3):
        queue.wake_sweeper()
    assert queue.await_wake(10)
    assert not queue.await_wake(0.01)
