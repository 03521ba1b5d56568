"""Child processes of workers and referees, used by `serve` and by worker hosts."""

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

# A process that does not react for this time is killed. A lease expires after 15 s; a referee has
# no lease.
_REFEREE_SILENT_SECONDS = 10.0
WORKER_SILENT_SECONDS = 25.0


def referee(owner: str, sockets: Path, logs: Path, environment: Mapping[str, str]) -> Child:
    """Return the referee of one worker, or of another service that plays matches.

    A referee parses messages from bots. It serves one worker, which plays one match at a time, so
    that a bot cannot delay other matches. It does not receive the address of the store or of Redis.

    Args:
        owner: the name of the service it serves, for example "worker-1".
        sockets: the private directory of the supervisor.
        logs: the directory of the log files.
        environment: environment variables of the supervisor.
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
    """Return the address of a service's referee."""
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
    """Return the process of a worker, not yet started.

    Args:
        number: the worker's number, for the process name.
        connection: a client of the arena's Redis, to check the worker's registration.
        logs: the directory of the log files.
        environment: names the data folder, store, Redis and referee, and a TMPDIR for files that
            bots
            leave.
        name: prefix of the worker's name; None: the host name.
        words: further command-line arguments.
        buried: called with the worker's name after it ended without a stop request.
        over: whether a worker that ended with this status has finished its work.
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
