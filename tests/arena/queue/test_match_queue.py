"""The queue carries hints, and hints only: a real Valkey, real RQ."""

import json
from collections.abc import Iterator

import pytest
from redis import Redis
from rq.job import Job
from rq.serializers import JSONSerializer

from arena.config import Folder
from arena.queue import match_queue, redis_server
from arena.queue.match_queue import MatchQueue
from arena.system import redis_connection


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Valkey of this module's own."""
    where = Folder(tmp_path_factory.mktemp("queue") / "data")
    with redis_server.resolve(where, {}) as address:
        yield address.url


@pytest.fixture
def connection(server: str) -> Iterator[Redis]:
    """An empty Redis."""
    client = redis_connection.connect(server)
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def hints(connection: Redis) -> MatchQueue:
    """The queue in it."""
    return MatchQueue(connection)


def test_hints_wait_in_the_order_they_were_put(hints: MatchQueue) -> None:
    assert hints.put("m-two")
    assert hints.put("m-one")
    assert hints.waiting() == ["m-two", "m-one"]


def test_what_comes_before_one_that_waits_has_been_lost_and_goes_first(hints: MatchQueue) -> None:
    hints.put_due(["m-3", "m-4", "m-6"])
    hints.put_due(["m-1", "m-2", "m-3", "m-4", "m-5", "m-6", "m-7"])
    assert hints.waiting() == ["m-1", "m-2", "m-5", "m-3", "m-4", "m-6", "m-7"]


def test_a_second_hint_for_the_same_match_is_refused(hints: MatchQueue) -> None:
    assert hints.put("m-one")
    assert not hints.put("m-one")
    assert hints.waiting() == ["m-one"]


def test_a_hint_holds_the_id_of_the_match_and_is_readable_as_json(
    hints: MatchQueue, connection: Redis
) -> None:
    hints.put("m-one")
    job = Job.fetch("m-one", connection=connection, serializer=JSONSerializer)
    assert json.loads(job.data) == [match_queue.FUNCTION, None, ["m-one"], {}]


def test_a_hint_leaves_redis_by_itself_one_day(hints: MatchQueue, connection: Redis) -> None:
    hints.put("m-one")
    assert 0 < int(connection.ttl("rq:job:m-one")) <= 3600


@pytest.mark.parametrize("match", ["", "m one", "m:1", "m" * 65, "../x"])
def test_what_is_no_id_of_a_match_is_not_hinted_at(hints: MatchQueue, match: str) -> None:
    with pytest.raises(ValueError, match="no id"):
        hints.put(match)


def test_what_is_due_and_waits_already_is_not_put_again(hints: MatchQueue) -> None:
    assert hints.put_due(["m-one", "m-two"]) == 2
    assert hints.put_due(["m-one", "m-two", "m-three"]) == 1
    assert hints.waiting() == ["m-one", "m-two", "m-three"]


def test_a_due_match_whose_hint_died_with_a_worker_gets_a_new_one_at_once(
    hints: MatchQueue, connection: Redis
) -> None:
    hints.put("m-one")
    # What a worker leaves that is killed right after it took the hint.
    connection.lmove("rq:queue:matches", "rq:queue:matches:intermediate")
    assert hints.waiting() == []
    assert hints.put_due(["m-one"]) == 1
    assert hints.waiting() == ["m-one"]
    assert connection.llen("rq:queue:matches:intermediate") == 0


def test_all_hints_may_be_lost(hints: MatchQueue, connection: Redis) -> None:
    hints.put_due(["m-one", "m-two"])
    connection.flushall()
    assert hints.put_due(["m-one", "m-two"]) == 2


def test_sweeping_removes_traces_of_hints_that_are_gone_and_no_others(
    hints: MatchQueue, connection: Redis
) -> None:
    hints.put("m-taken")
    connection.lmove("rq:queue:matches", "rq:queue:matches:intermediate")
    connection.rpush("rq:queue:matches:intermediate", "m-gone")
    hints.sweep()
    assert connection.lrange("rq:queue:matches:intermediate", 0, -1) == [b"m-taken"]
