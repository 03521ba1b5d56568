"""Register workers in Redis as their heartbeats do."""

from typing import Any

from redis import Redis

from arena.queue.match_queue import FORGOTTEN_SECONDS, PAUSED, SandboxState


def register_worker(
    connection: Redis, name: str, sandbox: SandboxState, paused: bool = False
) -> None:
    """Register a live worker without a process."""
    key = f"rq:worker:{name}"
    fields: dict[Any, Any] = {"pid": "1", "hostname": "host", "state": "idle", **sandbox.fields()}
    fields[PAUSED] = str(int(paused))
    connection.hset(key, mapping=fields)
    connection.expire(key, FORGOTTEN_SECONDS)
    connection.sadd("rq:workers", key)
    connection.sadd("rq:workers:matches", key)
