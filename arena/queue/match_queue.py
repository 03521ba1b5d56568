"""The queue: hints in Redis that a match is worth trying, and the list of workers.

The truth is in the store. A hint is an RQ job whose id is the match's id and whose only
argument is that id again; losing, doubling or delaying it changes no result, because a worker
first leases the match in the store and the sweeper puts back what is due. There is one queue,
and every worker listens to it alone: on several, RQ can lose a job for ever.
"""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redis.exceptions import ResponseError
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer
from rq.worker_registration import REDIS_WORKER_KEYS, WORKERS_BY_QUEUE_KEY

from arena.system import failpoint

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger("arena.queue")

QUEUE = "matches"
# What a hint names. Workers run this and nothing else (arena.queue.worker).
FUNCTION = "arena.matches.attempt.attempt"

# RQ's own pattern for ids, bounded.
MATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

# A hint nobody took for this long leaves Redis; the sweeper puts it back if it is still due.
_HINT_SECONDS = 3600
_NO_LIMIT = -1
_WORKER = "rq:worker:"
SANDBOX = "sandbox"
"""The field in which a worker says how it locks bots in."""
UNKNOWN = "unknown"
_JOB = "rq:job:"

# A worker shows itself this often, and is forgotten when it has not for so long.
HEARTBEAT_SECONDS = 5
FORGOTTEN_SECONDS = 30


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker as Redis knows it.

    `match` is what it plays now, if anything; `silent` the seconds since it last showed itself,
    by the clock of Redis; `sandbox` how it locks bots in.
    """

    name: str
    host: str
    pid: int
    state: str
    match: str | None
    silent: float
    sandbox: str = UNKNOWN

    @property
    def alive(self) -> bool:
        """Whether it has shown itself lately."""
        return self.silent < 3 * HEARTBEAT_SECONDS


class MatchQueue:
    """The queue of matches worth trying. Every method raises redis.exceptions.RedisError."""

    def __init__(self, connection: Redis) -> None:
        self._connection = connection
        self._queue = Queue(QUEUE, connection=connection, serializer=JSONSerializer)

    def put(self, match: str, first: bool = False) -> bool:
        """Puts a hint, behind the others or as the first one.

        False if there is one already, waiting or being followed.
        """
        if not MATCH_ID.fullmatch(match):
            raise ValueError(f"{match!r} is no id of a match")
        failpoint.reach("hint.put")
        try:
            self._queue.enqueue_call(
                FUNCTION,
                args=(match,),
                timeout=_NO_LIMIT,
                ttl=_HINT_SECONDS,
                result_ttl=0,
                failure_ttl=0,
                description=match,
                job_id=match,
                unique=True,
                at_front=first,
            )
        except DuplicateJobError:
            return False
        return True

    def put_due(self, due: Collection[str]) -> int:
        """Sees to it that a hint waits for each match of `due`, which the store says is free.

        A job of that id which does not wait is what a killed worker left behind: RQ would
        notice in minutes, and would refuse a new hint until then. It is taken away. (If it was
        dequeued a moment ago instead, the match is tried twice, and leased once.)

        `due` is in canonical order: what comes before one that waits already has been begun and
        lost, and is put before all of them, or it would wait for hundreds of matches.

        Returns how many hints were put.
        """
        waiting = set(self.waiting())
        last = max((n for n, match in enumerate(due) if match in waiting), default=-1)
        missing = [(n < last, match) for n, match in enumerate(due) if match not in waiting]
        urgent = [match for first, match in reversed(missing) if first]
        usual = [match for first, match in missing if not first]
        return sum(self._put_again(match, True) for match in urgent) + sum(
            self._put_again(match, False) for match in usual
        )

    def _put_again(self, match: str, first: bool) -> bool:
        # A job of another type than RQ's is refused by Redis, and is replaced.
        with contextlib.suppress(ResponseError):
            if self.put(match, first):
                return True
        self.drop(match)
        return self.put(match, first)

    def waiting(self) -> list[str]:
        """The matches with a hint that nobody has taken yet, the next one first."""
        items = self._connection.lrange(self._queue.key, 0, -1)
        return [match for match in map(_match_id, items) if match is not None]

    def discard_malformed(self) -> int:
        """Remove from the queue whatever cannot be a job of ours.

        A program that shares the Redis, or an attacker who reaches it, can put anything there:
        items that are no match ids, and keys of another type than RQ's.

        Returns:
            How many items and keys were removed.
        """
        lists = (self._queue.key, self._queue.intermediate_queue_key)
        expected = {
            **dict.fromkeys(lists, "list"),
            self._queue.started_job_registry.key: "zset",
            WORKERS_BY_QUEUE_KEY % QUEUE: "set",
            REDIS_WORKER_KEYS: "set",
        }
        removed = 0
        for key, kind in expected.items():
            if _text(self._connection.type(key)) not in (kind, "none"):
                removed += self._connection.delete(key)
        for key in lists:
            items = set(self._connection.lrange(key, 0, -1))
            for item in (item for item in items if _match_id(item) is None):
                removed += self._connection.lrem(key, 0, item)  # type: ignore[arg-type]
        if removed:
            log.warning("%d malformed items in the Redis keys of the queue are removed", removed)
        return removed

    def known(self) -> list[str]:
        """The matches of which RQ knows anything: waiting, followed, or left by a killed worker."""
        jobs = self._connection.scan_iter(f"{_JOB}*", count=1000)
        ids = (_match_id(_text(key).removeprefix(_JOB)) for key in jobs)
        return sorted({match for match in ids if match is not None})

    def drop(self, match: str) -> None:
        """Takes away everything RQ knows of this match's hint."""
        with self._connection.pipeline() as pipeline:
            pipeline.lrem(self._queue.key, 0, match)
            pipeline.lrem(self._queue.intermediate_queue_key, 0, match)
            pipeline.delete(f"{_JOB}{match}", f"rq:executions:{match}")
            pipeline.execute()

    def sweep(self) -> None:
        """Removes the traces of workers that were killed between taking a hint and following it."""
        taken = self._queue.intermediate_queue
        for match in taken.get_job_ids():
            if not self._connection.exists(f"{_JOB}{match}"):
                taken.remove(match)
        self._connection.zremrangebyscore(
            self._queue.started_job_registry.key, 0, time.time() - _HINT_SECONDS
        )


def workers(connection: Redis) -> tuple[WorkerInfo, ...]:
    """The workers registered in Redis, by name; killed ones too, until Redis forgets them.

    Raises redis.exceptions.RedisError.
    """
    keys = sorted(_text(key) for key in connection.smembers(WORKERS_BY_QUEUE_KEY % QUEUE))
    found = (worker(connection, key.removeprefix(_WORKER)) for key in keys)
    return tuple(info for info in found if info is not None)


def worker(connection: Redis, name: str) -> WorkerInfo | None:
    """The worker of this name, if Redis knows it. Raises redis.exceptions.RedisError."""
    with connection.pipeline() as pipeline:
        pipeline.hgetall(_WORKER + name)
        pipeline.pttl(_WORKER + name)
        raw, left = pipeline.execute(raise_on_error=False)
    if not isinstance(raw, dict) or not isinstance(left, int):
        # A key of another type. A connection that is lost raises.
        return None
    fields = {_text(field): _text(value) for field, value in raw.items()}
    if not fields.get("pid", "").isdigit() or "death" in fields:
        return None
    return WorkerInfo(
        name=name,
        host=fields.get("hostname", ""),
        pid=int(fields["pid"]),
        state=fields.get("state", ""),
        match=fields.get("current_job") or None,
        silent=max(0.0, FORGOTTEN_SECONDS - left / 1000),
        sandbox=fields.get(SANDBOX) or UNKNOWN,
    )


def fresh_name(base: str | None = None) -> str:
    """A name no other worker has had: the host, or what else it is to begin with, and a token."""
    return f"{base or socket.gethostname()}-{secrets.token_hex(3)}"


def forget_worker(connection: Redis, name: str) -> None:
    """Takes a worker that is known to be dead off the list."""
    with connection.pipeline() as pipeline:
        pipeline.srem(REDIS_WORKER_KEYS, _WORKER + name)
        pipeline.srem(WORKERS_BY_QUEUE_KEY % QUEUE, _WORKER + name)
        pipeline.delete(_WORKER + name)
        pipeline.execute()


def _match_id(item: bytes | str) -> str | None:
    """Return the match id in an item of the queue; None if the item is malformed."""
    text = item.decode("ascii", errors="replace") if isinstance(item, bytes) else item
    return text if MATCH_ID.fullmatch(text) else None


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
