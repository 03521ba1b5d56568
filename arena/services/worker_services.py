"""The child processes that play, as `serve` and a machine of workers alone both run them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from arena import config
from arena.queue import match_queue
from arena.queue.match_queue import fresh_name
from arena.system import grpc_probe
from arena.system.child_process import Child
from arena.system.process_info import is_frozen

# What is frozen for so long is killed. A lease has lapsed after 15 s; a referee has none.
_REFEREE_SILENT_SECONDS = 10.0
WORKER_SILENT_SECONDS = 25.0


def referee(owner: str, sockets: Path, logs: Path, environment: Mapping[str, str]) -> Child:
    """Return the referee of one worker, or of another service that has matches played.

    A referee reads what bots send. So that no bot can cost other matches time, each serves one
    worker, which plays one match at a time. It gets no address of the store or of Redis.

    Args:
        owner: the name of the service that it serves, "worker-1".
        sockets: the private directory of the supervisor.
        logs: the directory of the logs.
        environment: of the supervisor.
    """
    address = referee_at(owner, sockets)
    path = Path(address.removeprefix("unix:"))

    def arguments() -> list[str]:
        path.unlink(missing_ok=True)
        return ["--address", address]

    return Child(
        f"referee-{owner}",
        "referee",
        arguments,
        directory=logs,
        environment=config.without_secrets(environment),
        ready=lambda: grpc_probe.answers(address),
        answers=lambda pid: grpc_probe.answers(address),
        patience=_REFEREE_SILENT_SECONDS,
    )


def referee_at(owner: str, sockets: Path) -> str:
    """Return the address of the referee of a service."""
    return f"unix:{sockets / f'{owner}.sock'}"


def worker(
    number: int,
    connection: Redis,
    logs: Path,
    environment: Mapping[str, str],
    *,
    name: str | None = None,
    words: Sequence[str] = (),
    buried: Callable[[str], None] = lambda name: None,
    over: Callable[[int], bool] = lambda status: False,
) -> Child:
    """A worker.

    environment: names its data folder, store, Redis, referee, and a TMPDIR for what its bots leave.
    name: what its own begins with; None: the host's. words: what else it is told. buried: hears its
    name after it has died unasked. over: whether one that ended with a status has done all it had
    to.
    """
    names: list[str] = []

    def arguments() -> list[str]:
        names.append(fresh_name(name))
        return ["--name", names[-1], *words]

    return Child(
        f"worker-{number}",
        "arena.services.worker_process",
        arguments,
        directory=logs,
        environment=environment,
        ready=lambda: _registered(connection, names[-1]),
        answers=lambda pid: not is_frozen(pid),
        patience=WORKER_SILENT_SECONDS,
        buried=lambda: buried(names[-1]),
        over=over,
    )


def _registered(connection: Redis, name: str) -> bool:
    try:
        return match_queue.worker(connection, name) is not None
    except RedisError:
        return False
