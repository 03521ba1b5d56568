"""Registrations of workers in Redis, and the machines that lost their workers.

A worker registers for 30 s at each heartbeat. A worker that stops removes its registration, and the
last one of a machine removes the machine. Killed workers are restarted by their supervisor, so a
machine that stays without a live worker was switched off, cut off, or killed.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from arena.bots.sandbox.level import Level

if TYPE_CHECKING:
    from redis import Redis

QUEUE: Final = "matches"
MODELS_QUEUE: Final = "models"
"""The queue of matches of the clock class `model`, if a worker listens to it."""
QUEUES: Final = (QUEUE, MODELS_QUEUE)
HEARTBEAT_SECONDS: Final = 5
FORGOTTEN_SECONDS: Final = 30
"""Time without a heartbeat after which Redis drops a registration."""
LOST_SECONDS: Final = 86400.0
"""A lost machine is reported for a day."""
UNKNOWN: Final = "unknown"
NAMES: Final = "pokearena:workers"
"""Set of the names of workers."""
HOSTS: Final = "pokearena:worker_hosts"
"""Sorted set of the machines with workers, and when they were last alive."""
_WORKER: Final = "pokearena:worker:"


class SandboxState(msgspec.Struct, frozen=True):
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


class WorkerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A worker as registered in Redis.

    Attributes:
        match: id of the match it plays; "" if it plays none.
        paused: whether it pauses, because its last matches failed.
        games: the games of packages that it plays, each with the hash of its code.
        queue: the queue whose matches it plays.
        silent: seconds since its last heartbeat, by the clock of Redis.
    """

    name: str
    host: str
    pid: int
    match: str = ""
    sandbox: SandboxState = SandboxState()
    paused: bool = False
    games: Mapping[str, str] = {}
    queue: str = QUEUE
    silent: float = 0.0

    @property
    def alive(self) -> bool:
        """Whether the last heartbeat is less than three intervals old."""
        return self.silent < 3 * HEARTBEAT_SECONDS

    @property
    def plays_models(self) -> bool:
        """Whether it plays only matches of the clock class `model`."""
        return self.queue == MODELS_QUEUE


def fresh_name(base: str | None = None) -> str:
    """Return a unique worker name: `base` (default: the host name) and a random token."""
    return f"{base or socket.gethostname()}-{secrets.token_hex(3)}"


def register_worker(connection: Redis, info: WorkerInfo) -> None:
    """Register a worker for `FORGOTTEN_SECONDS`, and note that its machine is alive.

    Each heartbeat contains the whole registration, because Redis may have lost its data.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    with connection.pipeline() as pipeline:
        pipeline.set(_WORKER + info.name, msgspec.json.encode(info), ex=FORGOTTEN_SECONDS)
        pipeline.sadd(NAMES, info.name)
        pipeline.zadd(HOSTS, {info.host: time.time()})
        pipeline.execute()


def forget_worker(connection: Redis, name: str) -> None:
    """Remove the registration of a worker that has exited.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    with connection.pipeline() as pipeline:
        pipeline.srem(NAMES, name)
        pipeline.delete(_WORKER + name)
        pipeline.execute()


def unregister_worker(connection: Redis, name: str, host: str) -> None:
    """Remove the registration of a worker that stops, and its machine if it was the last there.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    forget_worker(connection, name)
    if all(worker.host != host for worker in workers(connection)):
        connection.zrem(HOSTS, host)


def workers(connection: Redis) -> tuple[WorkerInfo, ...]:
    """Return the registered workers, sorted by name; killed ones too until Redis drops them.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    names = sorted(name for name in connection.smembers(NAMES) if isinstance(name, bytes))
    prefix = _WORKER.encode()
    with connection.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.get(prefix + name)
            pipeline.pttl(prefix + name)
        answers = pipeline.execute(raise_on_error=False)
    values, left = answers[::2], answers[1::2]
    if dropped := [name for name, value in zip(names, values, strict=True) if value is None]:
        connection.srem(NAMES, *dropped)
    infos = map(_worker_info, values, left)
    return tuple(info for info in infos if info is not None)


def worker(connection: Redis, name: str) -> WorkerInfo | None:
    """Return the worker with this name; None if it is not registered.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    return next((info for info in workers(connection) if info.name == name), None)


def _worker_info(value: object, left: object) -> WorkerInfo | None:
    """Return a worker from its registration and the milliseconds that are left of it."""
    if not isinstance(value, bytes) or not isinstance(left, int):
        # A key of another type, or none. A lost connection raises instead.
        return None
    try:
        info = msgspec.json.decode(value, type=WorkerInfo)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return msgspec.structs.replace(info, silent=max(0.0, FORGOTTEN_SECONDS - left / 1000))


def lost_hosts(connection: Redis, registered: Collection[WorkerInfo]) -> set[str]:
    """Return the machines whose workers vanished within the last day.

    Raises:
        redis.exceptions.RedisError: Redis does not answer.
    """
    connection.zremrangebyscore(HOSTS, "-inf", time.time() - LOST_SECONDS)
    known = connection.zrange(HOSTS, 0, -1)
    names = {host.decode(errors="replace") for host in known if isinstance(host, bytes)}
    return names - live_hosts(registered)


def live_hosts(registered: Collection[WorkerInfo]) -> set[str]:
    """Return the machines of the workers that are alive."""
    return {worker.host for worker in registered if worker.alive}
