"""The services that play matches, used by `serve` and by worker hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from arena import config
from arena.services.queue import worker_registrations
from arena.services.queue.worker_registrations import QUEUE, fresh_name
from arena.services.service import Service, StopStage, python_command
from arena.system import file_tree, grpc_probe, private_files, temporary_folder
from arena.system.process_info import is_frozen

# A process that does not react for this time is killed. A lease expires after 15 s; a referee has
# no lease.
_REFEREE_SILENT_SECONDS = 10.0
WORKER_SILENT_SECONDS = 25.0


@contextlib.contextmanager
def private_sockets(environment: Mapping[str, str]) -> Iterator[Path]:
    """Provide a private directory for sockets (`config.private_directory`)."""
    sockets = config.private_directory(environment)
    try:
        yield sockets
    finally:
        temporary_folder.remove(sockets)


def referee(owner: str, sockets: Path, environment: Mapping[str, str]) -> Service:
    """Return the referee of one worker, or of another service that plays matches.

    A referee parses messages from bots. It serves one worker, which plays one match at a time, so
    that a bot cannot delay other matches. It does not receive the address of the store or of Redis.

    Args:
        owner: the name of the service it serves, for example "worker-1".
    """
    address = referee_at(owner, sockets)
    path = Path(address.removeprefix("unix:"))

    def command() -> list[str]:
        path.unlink(missing_ok=True)
        return python_command("referee", "--address", address)

    return Service(
        name=f"referee-{owner}",
        command=command,
        environment=config.without_secrets(environment),
        is_ready=lambda: grpc_probe.answers(address),
        waits_for=f"an answer at {address}",
        responds=lambda pid: grpc_probe.answers(address),
        patience=_REFEREE_SILENT_SECONDS,
        stage=StopStage.PROVIDER,
    )


def referee_at(owner: str, sockets: Path) -> str:
    """Return the address of a service's referee."""
    return f"unix:{sockets / f'{owner}.sock'}"


def worker(
    number: int,
    connection: Redis,
    sockets: Path,
    environment: Mapping[str, str],
    *,
    name: str | None = None,
    limits: Sequence[str] = (),
    queue: str = QUEUE,
    on_exit: Callable[[str], None] = lambda name: None,
) -> Service:
    """Return a worker.

    Args:
        connection: a client of the arena's Redis, to check the worker's registration.
        sockets: the private directory of the supervisor. The worker gets a folder in it as its
            TMPDIR, which is emptied at each start: bots of a killed worker leave files there.
        environment: names the data folder, store, Redis and referee.
        name: prefix of the worker's name; None: the host name.
        limits: command-line arguments that end the worker before it is stopped.
        queue: the queue that it listens to.
        on_exit: called with the worker's name after it ended without a stop request.
    """
    names: list[str] = []
    # Short, because sockets of bots are in it.
    temporary = sockets / f"w{number}"

    def command() -> list[str]:
        file_tree.remove(temporary)
        private_files.create_folder(temporary)
        names.append(fresh_name(name))
        arguments = ("--name", names[-1], "--queue", queue, *limits)
        return python_command("arena.services.worker_process", *arguments)

    return Service(
        name=f"worker-{number}",
        command=command,
        environment={**environment, "TMPDIR": str(temporary)},
        is_ready=lambda: _is_registered(connection, names[-1]),
        waits_for="its registration in Redis",
        responds=lambda pid: not is_frozen(pid),
        patience=WORKER_SILENT_SECONDS,
        on_exit=lambda: on_exit(names[-1]),
        is_complete=(lambda status: status == 0) if limits else None,
    )


def _is_registered(connection: Redis, name: str) -> bool:
    try:
        return worker_registrations.worker(connection, name) is not None
    except RedisError:
        return False
