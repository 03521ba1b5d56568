"""Match queues: short lists of RQ jobs in Redis for matches that are due.

The store decides which matches are due, and in which order. The id of a job is the id of its match.
A lost, duplicated or delayed job changes no result: a worker first leases the match in the store,
and the sweeper enqueues due matches again. Each worker listens to a single queue: with several
queues, RQ can lose a job permanently.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from rq import Queue
from rq.executions import ExecutionRegistry
from rq.serializers import JSONSerializer

from arena.services.queue.match_job import FUNCTION, MATCH_ID, MatchJob
from arena.services.queue.worker_registrations import HOSTS, NAMES, QUEUE, QUEUES
from arena.system import failpoint
from referee.games.shared.coded_errors import InvalidValue

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline
    from rq.queue import EnqueueData

log = logging.getLogger("arena.services.queue")

_JOB_SECONDS: Final = 3600
"""A job not taken within this time expires; the sweeper enqueues the match again if it is due."""
_NO_LIMIT: Final = -1
_WAKE: Final = "pokearena:wake"
"""List that holds at most one item, which the next sweeper takes."""

_REGISTRIES: Final = ("wip", "finished", "failed", "deferred", "scheduled", "canceled")
_LISTS: Final = [f"rq:queue:{queue}{end}" for queue in QUEUES for end in ("", ":intermediate")]
_KEY_TYPES: Final = {
    **dict.fromkeys((*_LISTS, _WAKE), b"list"),
    **dict.fromkeys((HOSTS, *(f"rq:{name}:{q}" for name in _REGISTRIES for q in QUEUES)), b"zset"),
    **dict.fromkeys((NAMES, "rq:queues", "rq:groups", "rq:workers"), b"set"),
    **dict.fromkeys((f"rq:workers:{queue}" for queue in QUEUES), b"set"),
}
"""Types in Redis of the keys that workers and sweepers use."""


class MatchQueue:
    """A queue of due matches. Every method raises redis.exceptions.RedisError."""

    def __init__(self, connection: Redis, name: str = QUEUE) -> None:
        self._connection = connection
        self._queue = Queue(
            name, connection=connection, serializer=JSONSerializer, job_class=MatchJob
        )

    def enqueue(self, *matches: str, first: Collection[str] = ()) -> int:
        """Enqueue a job for each match without a waiting job; return the number of jobs.

        Args:
            matches: match ids, in the order in which workers take them.
            first: those that go to the front of the queue instead of its end.

        Raises:
            InvalidValue: one of the ids is not a valid match id; no job is enqueued.
        """
        for match in matches:
            if not MATCH_ID.fullmatch(match):
                raise InvalidValue(f"{match!r} is not a valid match id", code="match-id")
        failpoint.reach("job.enqueued")

        missing: list[str] = []

        def add(pipeline: Pipeline) -> None:
            waiting = set(_match_ids(pipeline.lrange(self._queue.key, 0, -1)))
            missing[:] = [match for match in dict.fromkeys(matches) if match not in waiting]
            pipeline.multi()
            for match in missing:
                # The job that a killed worker left, or keys of another type.
                pipeline.lrem(self._queue.intermediate_queue_key, 0, match)
                pipeline.delete(
                    MatchJob.key_for(match),
                    MatchJob.dependents_key_for(match),
                    ExecutionRegistry.key_template.format(match),
                )
            at_front = [_job(match, True) for match in reversed(missing) if match in first]
            at_end = [_job(match) for match in missing if match not in first]
            self._queue.enqueue_many([*at_end, *at_front], pipeline=pipeline)

        # Repeated if the queue changes meanwhile, so two sweepers enqueue no match twice.
        self._connection.transaction(add, self._queue.key)
        return len(missing)

    def waiting(self) -> list[str]:
        """Return the matches whose job has not been taken yet, the next one first."""
        return _match_ids(self._connection.lrange(self._queue.key, 0, -1))

    def clear(self) -> None:
        """Remove all waiting jobs; those of due matches are enqueued again."""
        self._connection.delete(self._queue.key)

    def __len__(self) -> int:
        return int(self._connection.llen(self._queue.key))

    def wake_sweeper(self) -> None:
        """Let a sweeper fill the queue now."""
        with self._connection.pipeline() as pipeline:
            pipeline.lpush(_WAKE, 1)
            pipeline.ltrim(_WAKE, 0, 0)
            pipeline.execute()

    def await_wake(self, seconds: float) -> bool:
        """Wait until a sweeper is to fill the queue; return False after this time."""
        return self._connection.blpop([_WAKE], seconds) is not None

    def discard_malformed(self) -> int:
        """Remove all items from the queues that cannot be match jobs; return their number.

        Another program that shares the Redis, or an attacker who can reach it, can write anything
        there: items that are not match ids, and keys whose type differs from the expected one.
        """
        removed = 0
        with self._connection.pipeline(transaction=False) as pipeline:
            for key in _KEY_TYPES:
                pipeline.type(key)
            types = pipeline.execute()
        for (key, expected), actual in zip(_KEY_TYPES.items(), types, strict=True):
            if actual not in (expected, b"none"):
                removed += self._connection.delete(key)
        for key in _LISTS:
            for item in set(self._connection.lrange(key, 0, -1)):
                if _match_id(item) is None:
                    removed += self._connection.lrem(key, 0, item)  # type: ignore[arg-type]
        if removed:
            log.warning("removed %d malformed items from the Redis keys of the queue", removed)
        return removed


def _job(match: str, at_front: bool = False) -> EnqueueData:
    return Queue.prepare_data(
        FUNCTION,
        args=(match,),
        job_id=match,
        description=match,
        timeout=_NO_LIMIT,
        ttl=_JOB_SECONDS,
        result_ttl=0,
        failure_ttl=0,
        at_front=at_front,
    )


def _match_id(item: bytes | str) -> str | None:
    """Return the match id in an item of the queue; None if the item is malformed."""
    text = item.decode("ascii", errors="replace") if isinstance(item, bytes) else item
    return text if MATCH_ID.fullmatch(text) else None


def _match_ids(items: Iterable[bytes | str]) -> list[str]:
    return [match for match in map(_match_id, items) if match is not None]
