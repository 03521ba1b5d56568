"""Register workers in Redis as their heartbeats do."""

from collections.abc import Mapping

from redis import Redis

from arena.services.queue.worker_registrations import (
    QUEUE,
    SandboxState,
    WorkerInfo,
    register_worker,
)


def add_worker(
    connection: Redis,
    name: str,
    sandbox: SandboxState = SandboxState(),  # noqa: B008  # frozen
    paused: bool = False,
    match: str = "",
    games: Mapping[str, str] | None = None,
    queue: str = QUEUE,
) -> None:
    info = WorkerInfo(
        name=name,
        host="host",
        pid=1,
        match=match,
        sandbox=sandbox,
        paused=paused,
        games=games or {},
        queue=queue,
    )
    register_worker(connection, info)
