"""Match queue: RQ jobs in Redis for matches that are probably due, and the list of workers.

The store is authoritative. The id of a job is the id of its match, and its only argument is that id
again. A lost, duplicated or delayed job changes no result: a worker first leases the match in the
store, and the sweeper enqueues due matches again. All workers listen to a single queue: with
several queues, RQ can lose a job permanently. :mod:`arena.queue.worker` takes the jobs.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import socket
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError
from rq import Queue
from rq.group import Group
from rq.job import JobStatus
from rq.serializers import JSONSerializer
from rq.utils import utcformat
from rq.worker_registration import REDIS_WORKER_KEYS, WORKERS_BY_QUEUE_KEY

from arena.bots.sandbox.level import Level
from arena.system import failpoint
from referee.games.shared.coded_errors import InvalidValue

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger("arena.queue")

QUEUE = "matches"
# The function that a job names. Workers run only this one (arena.queue.worker).
FUNCTION = "arena.matches.attempt.attempt"

# RQ's pattern for ids, limited to 64 characters.
MATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

# A job not taken within this time expires; the sweeper enqueues the match again if it is due.
_JOB_SECONDS = 3600
_NO_LIMIT = -1
_WORKER = "rq:worker:"
SANDBOX = "sandbox"
"""Field in which a worker registers the sandbox level of its bots."""
STORED_SANDBOX = "sandbox_stored"
"""Field in which a worker registers the best level that has held on its machine."""
PLAYS_PUSHED = "plays_pushed"
"""Field in which a worker registers whether it plays pushed versions: 1 or 0."""
PAUSED = "paused"
"""Field in which a worker registers whether it pauses because its matches fail: 1 or 0."""
HOSTS = "pokearena:worker_hosts"
"""Sorted set of the machines with workers, and when they were last alive."""
UNKNOWN = "unknown"
_JOB = "rq:job:"

# Interval of the heartbeats, and the time without one after which Redis drops a worker.
HEARTBEAT_SECONDS = 5
FORGOTTEN_SECONDS = 30

# Scripts that run in Redis. A script is atomic, so two sweepers enqueue no match twice, and the
# fields that all jobs share are sent once.
_ENQUEUE: Final = """
-- KEYS: the queue, and the list of taken jobs.
-- ARGV: LPUSH or RPUSH, seconds to live, number of texts, fields and values in turn, match ids.
local push, seconds, texts = ARGV[1], ARGV[2], tonumber(ARGV[3])
local first = 4 + texts
local given = {}
for place = first, #ARGV do
  given[ARGV[place]] = true
end
for _, key in ipairs(KEYS) do
  for _, item in ipairs(redis.call('LRANGE', key, 0, -1)) do
    if given[item] then
      redis.call('LREM', key, 0, item)
    end
  end
end
redis.call('SADD', 'rq:queues', KEYS[1])
for place = first, #ARGV do
  local match = ARGV[place]
  local fields = {}
  for number = 4, 3 + texts do
    -- Match ids have no "%", which would be special in a replacement.
    fields[#fields + 1] = (string.gsub(ARGV[number], '<match>', match))
  end
  redis.call('DEL', 'rq:job:' .. match, 'rq:executions:' .. match)
  redis.call('HSET', 'rq:job:' .. match, unpack(fields))
  redis.call('EXPIRE', 'rq:job:' .. match, seconds)
  redis.call(push, KEYS[1], match)
end
"""

_ARRANGE: Final = """
-- KEYS: the queue. ARGV: match ids in their new order.
local items = redis.call('LRANGE', KEYS[1], 0, -1)
local waiting, ordered = {}, {}
for _, item in ipairs(items) do
  waiting[item] = true
end
for _, match in ipairs(ARGV) do
  if waiting[match] then
    waiting[match] = nil
    ordered[#ordered + 1] = match
  end
end
for _, item in ipairs(items) do
  if waiting[item] then
    waiting[item] = nil
    ordered[#ordered + 1] = item
  end
end
redis.call('DEL', KEYS[1])
for _, item in ipairs(ordered) do
  redis.call('RPUSH', KEYS[1], item)
end
"""


@dataclass(frozen=True, slots=True)
class SandboxState:
    """The sandbox of a worker's bots, as the worker registers it.

    Attributes:
        level: the level of its bots; "unavailable" while it plays nothing.
        stored: the best level that has held on its machine; empty if none is stored.
        plays_pushed: whether it plays pushed versions at this level.
    """

    level: str = UNKNOWN
    stored: str = ""
    plays_pushed: bool = True

    @property
    def is_below_stored(self) -> bool:
        """Whether bots run at a lower level than the best one that has held on the machine."""
        levels = set(Level)
        return {self.level, self.stored} <= levels and Level(self.level).is_below(
            Level(self.stored)
        )

    def fields(self) -> dict[str, str]:
        """Return the fields of the registration."""
        return {
            SANDBOX: self.level,
            STORED_SANDBOX: self.stored,
            PLAYS_PUSHED: str(int(self.plays_pushed)),
        }


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker as registered in Redis.

    Attributes:
        name: unique name of the worker.
        host: host name of its machine.
        pid: its process id.
        state: its state in RQ's terms.
        match: id of the match it plays, if any.
        silent: seconds since its last heartbeat, by the clock of Redis.
        sandbox: the sandbox of its bots.
        paused: whether it pauses, because its last matches failed.
    """

    name: str
    host: str
    pid: int
    state: str
    match: str | None
    silent: float
    sandbox: SandboxState = SandboxState()
    paused: bool = False

    @property
    def alive(self) -> bool:
        """Whether the last heartbeat is less than three intervals old."""
        return self.silent < 3 * HEARTBEAT_SECONDS


class MatchQueue:
    """The queue of due matches. Every method raises redis.exceptions.RedisError."""

    def __init__(self, connection: Redis) -> None:
        self._connection = connection
        self._queue = Queue(QUEUE, connection=connection, serializer=JSONSerializer)
        self._enqueue = connection.register_script(_ENQUEUE)
        self._arrange = connection.register_script(_ARRANGE)

    def enqueue(self, *matches: str, first: bool = False) -> None:
        """Enqueue a job for each match at once, replacing earlier jobs of these matches.

        Args:
            matches: match ids.
            first: whether the jobs go to the front, the last match foremost, instead of the end.

        Raises:
            InvalidValue: one of the ids is not a valid match id; no job is enqueued.
        """
        for match in matches:
            if not MATCH_ID.fullmatch(match):
                raise InvalidValue(f"{match!r} is not a valid match id", code="match-id")
        failpoint.reach("job.enqueued")
        if matches:
            fields = _job_fields(time.time())
            pairs = [text for field in fields.items() for text in field]
            push = "LPUSH" if first else "RPUSH"
            self._enqueue(
                keys=(self._queue.key, self._queue.intermediate_queue_key),
                args=(push, _JOB_SECONDS, len(pairs), *pairs, *matches),
            )

    def enqueue_due(
        self,
        due: Collection[str],
        urgent: Sequence[str] = (),
        waiting: Collection[str] | None = None,
    ) -> int:
        """Ensure that a job waits for each of these matches, which are free in the store.

        A job with such an id that does not wait was left by a killed worker. RQ would notice this
        after minutes and would refuse a new job until then, so the old job is removed. (If it was
        in fact dequeued a moment ago, the match is tried twice and leased once.)

        Args:
            due: match ids. The missing ones go to the end of the queue in this order.
            urgent: match ids. If one of them is missing, all move to the front in this order.
            waiting: the result of `waiting`, if it has just been read. A job that has been added
                since then is replaced, not doubled.

        Returns:
            The number of jobs enqueued.
        """
        waiting = set(self.waiting() if waiting is None else waiting)
        missing = [match for match in due if match not in waiting]
        if missing:
            self.enqueue(*missing)
        if waiting.issuperset(urgent):
            return len(missing)
        self.enqueue(*reversed(urgent), first=True)
        return len(missing) + sum(match not in waiting for match in urgent)

    def arrange(self, order: Sequence[str]) -> None:
        """Put the waiting jobs into this order, each once; jobs that are not in it follow.

        Args:
            order: match ids, the next one first. Those that wait no longer are skipped.
        """
        if order:
            self._arrange(keys=(self._queue.key,), args=order)

    def waiting(self) -> list[str]:
        """Return the matches whose job has not been taken yet, the next one first."""
        items = self._connection.lrange(self._queue.key, 0, -1)
        return [match for match in map(_match_id, items) if match is not None]

    def discard_malformed(self) -> int:
        """Remove all items from the queue that cannot be match jobs.

        Another program that shares the Redis, or an attacker who can reach it, can write anything
        there: items that are not match ids, and keys whose type differs from RQ's.

        Returns:
            The number of items and keys removed.
        """
        lists = (self._queue.key, self._queue.intermediate_queue_key)
        registries = (
            self._queue.started_job_registry,
            self._queue.finished_job_registry,
            self._queue.failed_job_registry,
            self._queue.deferred_job_registry,
            self._queue.scheduled_job_registry,
            self._queue.canceled_job_registry,
        )
        expected = {
            **dict.fromkeys(lists, "list"),
            **{registry.key: "zset" for registry in registries},
            Group.REDIS_GROUP_KEY: "set",
            WORKERS_BY_QUEUE_KEY % QUEUE: "set",
            REDIS_WORKER_KEYS: "set",
            HOSTS: "zset",
        }
        with self._connection.pipeline(transaction=False) as pipeline:
            for key in expected:
                pipeline.type(key)
            for key in lists:
                pipeline.lrange(key, 0, -1)
            answers = pipeline.execute(raise_on_error=False)
        removed = 0
        for (key, kind), actual in zip(expected.items(), answers, strict=False):
            if isinstance(actual, RedisError):
                raise actual
            if _text(actual) not in (kind, "none"):
                removed += self._connection.delete(key)
        for key, items in zip(lists, answers[len(expected) :], strict=True):
            # An error: the key had another type, and has just been deleted.
            of_list = () if isinstance(items, RedisError) else set(items)
            for item in (item for item in of_list if _match_id(item) is None):
                removed += self._connection.lrem(key, 0, item)
        if removed:
            log.warning("removed %d malformed items from the Redis keys of the queue", removed)
        return removed

    def job_ids(self) -> list[str]:
        """Return the matches with a job in Redis: waiting, running, or left by a killed worker."""
        jobs = self._connection.scan_iter(f"{_JOB}*", count=1000)
        ids = (_match_id(_text(key).removeprefix(_JOB)) for key in jobs)
        return sorted({match for match in ids if match is not None})

    def remove(self, match: str) -> None:
        """Remove all data of this match's job from Redis."""
        with self._connection.pipeline() as pipeline:
            pipeline.lrem(self._queue.key, 0, match)
            pipeline.lrem(self._queue.intermediate_queue_key, 0, match)
            pipeline.delete(*_job_keys(match))
            pipeline.execute()

    def sweep(self) -> None:
        """Remove the traces of workers that were killed between taking a job and starting it."""
        taken = self._queue.intermediate_queue
        for match in taken.get_job_ids():
            if not self._connection.exists(f"{_JOB}{match}"):
                taken.remove(match)
        self._connection.zremrangebyscore(
            self._queue.started_job_registry.key, 0, time.time() - _JOB_SECONDS
        )


def _job_keys(match: str) -> tuple[str, str]:
    return f"{_JOB}{match}", f"rq:executions:{match}"


def _job_fields(seconds: float) -> dict[str, str]:
    """Return the fields of a new job as RQ stores them; "<match>" stands for the match id.

    RQ writes the data compressed, but reads it uncompressed as well.
    """
    at = utcformat(datetime.fromtimestamp(seconds, UTC))
    return {
        "data": json.dumps([FUNCTION, None, ["<match>"], {}]),
        "description": "<match>",
        "origin": QUEUE,
        "status": JobStatus.QUEUED.value,
        "created_at": at,
        "enqueued_at": at,
        "timeout": str(_NO_LIMIT),
        "ttl": str(_JOB_SECONDS),
        "result_ttl": "0",
        "failure_ttl": "0",
    }


def workers(connection: Redis) -> tuple[WorkerInfo, ...]:
    """Return the registered workers, sorted by name; killed ones too until Redis drops them.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    keys = sorted(_text(key) for key in connection.smembers(WORKERS_BY_QUEUE_KEY % QUEUE))
    infos = (worker(connection, key.removeprefix(_WORKER)) for key in keys)
    return tuple(info for info in infos if info is not None)


def worker(connection: Redis, name: str) -> WorkerInfo | None:
    """Return the worker with this name; None if it is not registered.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    with connection.pipeline() as pipeline:
        pipeline.hgetall(_WORKER + name)
        pipeline.pttl(_WORKER + name)
        raw, left = pipeline.execute(raise_on_error=False)
    if not isinstance(raw, dict) or not isinstance(left, int):
        # A key of another type. A lost connection raises instead.
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
        sandbox=SandboxState(
            fields.get(SANDBOX) or UNKNOWN,
            fields.get(STORED_SANDBOX, ""),
            fields.get(PLAYS_PUSHED) != "0",
        ),
        paused=fields.get(PAUSED) == "1",
    )


def fresh_name(base: str | None = None) -> str:
    """Return a unique worker name: `base` (default: the host name) and a random token."""
    return f"{base or socket.gethostname()}-{secrets.token_hex(3)}"


def forget_worker(connection: Redis, name: str) -> None:
    """Remove a dead worker from the list."""
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
