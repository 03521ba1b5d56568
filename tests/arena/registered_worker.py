"""Register workers in Redis as their heartbeats do."""

from redis import Redis

from arena.services.queue.worker_registrations import SandboxState, WorkerInfo, register_worker


def add_worker(
    connection: Redis, name: str, sandbox: SandboxState, paused: bool = False, match: str = ""
) -> None:
    info = WorkerInfo(name=name, host="host", pid=1, match=match, sandbox=sandbox, paused=paused)
    register_worker(connection, info)
