"""Redis holds only jobs and events: it may exit, lose its data, or reject commands."""

import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Self

import pytest
from redis import Redis

from arena import config
from arena.services.queue import redis_server
from tests.examples import examples
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena, ServeProcess
from tests.faults.witness import Witness
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

MATCHES = 4
"""Matches that are played during each fault."""
KILLS = examples(10, 3)
FLUSH_SECONDS = 0.5
"""Seconds between two losses of all data."""
ERRORS = 10
"""Number of refused commands for which Redis stays without memory or disk."""
ATTEMPTS = 5
"""Attempts to connect during an absence: with RQ's own pauses they take 31 s."""
LONGEST_PAUSE_SECONDS = 2


def schedule_matches(arena: Arena, matches: int = MATCHES) -> None:
    arena.schedule(["first@1", "last@1"], cycles=matches)


def leased(arena: Arena) -> int:
    return int(arena.sql("SELECT count(*) FROM matches WHERE attempt > 0")[0][0])


def wait_for_lease(arena: Arena, serve: ServeProcess) -> None:
    """Wait until a further match is leased, or all are closed."""
    goal = leased(arena) + 1
    serve.until(lambda: leased(arena) >= goal or arena.over(), 60)


@pytest.fixture
def arena() -> Iterator[Arena]:
    arena = Arena()
    arena.slow("first")
    arena.slow("last", choice=-1)
    with processes.orphanage():
        yield arena
    arena.remove()


def test_redis_is_killed_repeatedly(arena: Arena, conclude: Conclude) -> None:
    schedule_matches(arena, 2 * KILLS)
    with Witness(arena) as witness, arena.serving(2) as serve:
        for _ in range(KILLS):
            wait_for_lease(arena, serve)
            witness.blow(idle=True)
            redis = serve.one("redis")
            processes.send(redis, signal.SIGKILL)
            wait_until(partial(is_replaced, serve, redis))
        serve.until(arena.over)
    tally = conclude(arena, witness, f"SIGKILL of Redis, {KILLS} times")
    assert tally.closed == 2 * KILLS


def is_replaced(serve: ServeProcess, redis: int) -> bool:
    return serve.of("redis") not in ([], [redis])


def test_redis_loses_its_data_and_its_memory_and_its_disk_and_is_away(
    arena: Arena, conclude: Conclude
) -> None:
    with OrganisersRedis(arena.temporary / "redis") as server:
        named = {config.REDIS[0]: server.url}
        with Witness(arena) as witness, arena.serving(2, **named) as serve, serve.redis() as redis:
            for fault in (lose_data, lose_memory, lose_disk):
                schedule_matches(arena)
                wait_for_lease(arena, serve)
                fault(arena, server, redis)
                witness.blow(idle=True)
                serve.until(arena.over)
            stay_away(arena, server, redis)
            witness.blow(idle=True)
            schedule_matches(arena)
            serve.until(arena.over)
    tally = conclude(arena, witness, "Redis without data, memory and disk")
    assert tally.closed == 4 * MATCHES
    assert arena.sql("SELECT DISTINCT attempt, failures FROM matches") == [(1, 0)]


def lose_data(arena: Arena, server: "OrganisersRedis", redis: Redis) -> None:
    while not arena.over():
        redis.flushall()
        time.sleep(FLUSH_SECONDS)


def lose_memory(arena: Arena, server: "OrganisersRedis", redis: Redis) -> None:
    """Refuse all writes; the registrations of the workers end meanwhile."""
    redis.config_set("maxmemory", 1)
    wait_for_errors(redis, "OOM")
    redis.delete(*redis.keys())
    wait_for_errors(redis, "OOM")
    redis.config_set("maxmemory", 0)


def lose_disk(arena: Arena, server: "OrganisersRedis", redis: Redis) -> None:
    server.fill_disk(True)
    wait_for_errors(redis, "MISCONF")
    server.fill_disk(False)


def wait_for_errors(redis: Redis, error: str) -> None:
    """Wait until Redis has refused further commands of the services."""

    def refused() -> int:
        return int(redis.info("errorstats").get(f"errorstat_{error}", {"count": 0})["count"])

    goal = refused() + ERRORS
    wait_until(lambda: refused() >= goal)


def stay_away(arena: Arena, server: "OrganisersRedis", redis: Redis) -> None:
    """Stop Redis until each idle worker has tried to connect some times, with short pauses."""
    wait_until(lambda: sum(client["cmd"] == "blmove" for client in redis.client_list()) == 2)
    logs = [arena.where.service_logs / f"worker-{number}.log" for number in (1, 2)]
    before = [len(pauses(log)) for log in logs]
    server.stop()
    for log, number in zip(logs, before, strict=True):
        wait_until(partial(has_pauses, log, number + ATTEMPTS))
        assert max(pauses(log)) <= LONGEST_PAUSE_SECONDS
    server.start()


def pauses(log: Path) -> list[int]:
    """Return the pauses in seconds between the attempts of a worker to connect to Redis."""
    return [int(seconds) for seconds in re.findall(r"retrying in (\d+) seconds", log.read_text())]


def has_pauses(log: Path, number: int) -> bool:
    return len(pauses(log)) >= number


class OrganisersRedis:
    """A Redis that writes to disk, as an organiser's server may do, during the block."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._socket = directory / "redis.sock"
        self.url = f"unix://{self._socket}"

    def __enter__(self) -> Self:
        self._directory.mkdir()
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
        shutil.rmtree(self._directory)

    def start(self) -> None:
        binary = redis_server.bundled()
        assert binary is not None
        options = f"--port 0 --unixsocket {self._socket} --dir {self._directory} --appendonly yes"
        # Python ignores SIGXFSZ, so a write beyond the limit fails as on a full disk.
        line = [str(binary), *options.split(), "--save", ""]
        self._server = GuardedProcess(line, stdout=subprocess.DEVNULL, restore_signals=False)
        wait_until(self._socket.exists)

    def stop(self) -> None:
        with self._server:
            self._server.terminate()
        self._socket.unlink(missing_ok=True)

    def fill_disk(self, yes: bool) -> None:
        """Forbid or allow the server to extend files."""
        most = 1 if yes else resource.RLIM_INFINITY
        limits = (most, resource.RLIM_INFINITY)
        resource.prlimit(self._server.pid, resource.RLIMIT_FSIZE, limits)
