"""Redis holds only jobs and events: it may exit, lose its data, or reject commands."""

import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from arena import config
from arena.services.queue import redis_server
from arena.services.queue.worker_registrations import FORGOTTEN_SECONDS
from arena.system import redis_connection
from arena.system.process_log import ProcessLog
from tests.examples import examples
from tests.faults import processes
from tests.faults.checker import RESUME_SECONDS
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena, ServeProcess
from tests.faults.witness import Witness
from tests.guarded_process import GuardedProcess
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

MATCHES = 8
KILLS = examples(10, 4)
PAUSE = 1.5
"""Seconds between two faults."""
ABSENCE = 40.0
"""Seconds: RQ alone would try to connect after about 17, 35 and 67 s."""
AFTERWARDS = 3
"""Matches that are scheduled after the absence."""


def schedule_matches(arena: Arena, matches: int = MATCHES) -> None:
    arena.schedule([arena.slow("first"), arena.slow("last", choice=-1)], cycles=matches)


def leased(arena: Arena) -> int:
    return int(arena.sql("SELECT count(*) FROM matches WHERE attempt > 0")[0][0])


def wait_for_leases(arena: Arena, serve: ServeProcess, more: int) -> None:
    """Wait until this number of further matches is leased, or all are closed."""
    goal = leased(arena) + more
    serve.until(lambda: leased(arena) >= goal or arena.over(), 60)


def test_redis_is_killed_repeatedly(arena: Arena, conclude: Conclude) -> None:
    schedule_matches(arena, 2 * KILLS)
    with Witness(arena) as witness, arena.serving(2) as serve:
        for _ in range(KILLS):
            wait_for_leases(arena, serve, 1)
            witness.blow(idle=True)
            processes.send(serve.one("redis"), signal.SIGKILL)
            time.sleep(PAUSE)
        serve.until(arena.over)
    tally = conclude(arena, witness, f"SIGKILL of Redis, {KILLS} times")
    assert tally.closed == 2 * KILLS
    assert tally.p95 is not None
    assert tally.p95 < RESUME_SECONDS


def test_redis_loses_its_data_twice_a_second(arena: Arena, conclude: Conclude) -> None:
    schedule_matches(arena)
    with Witness(arena) as witness, arena.serving(2) as serve:
        while not arena.over():
            witness.blow(idle=True)
            with serve.redis() as connection:
                connection.flushall()
            time.sleep(PAUSE / 3)
    tally = conclude(arena, witness, "FLUSHALL, twice a second")
    assert tally.closed == MATCHES
    assert arena.sql("SELECT DISTINCT attempt, failures FROM matches") == [(1, 0)]


def test_redis_has_no_memory_left_for_a_while(arena: Arena, conclude: Conclude) -> None:
    schedule_matches(arena)
    with Witness(arena) as witness, arena.serving(2) as serve:
        wait_for_leases(arena, serve, 2)
        with serve.redis() as connection:
            connection.config_set("maxmemory", 1)
            with pytest.raises(ResponseError):
                connection.set("anything", 1)
            # Longer than the registration of a worker without heartbeats.
            time.sleep(FORGOTTEN_SECONDS + 5)
            witness.blow(idle=True)
            connection.config_set("maxmemory", 0)
        serve.until(arena.over)
    tally = conclude(arena, witness, "Redis out of memory")
    assert tally.closed == MATCHES
    # A fast machine may have played all of them meanwhile, from the jobs that were queued before.
    assert (tally.p95 or 0) < RESUME_SECONDS


def test_the_disk_of_redis_is_full_for_a_while(arena: Arena, conclude: Conclude) -> None:
    schedule_matches(arena)
    with redis_on_disk(arena.temporary / "redis") as (url, pid):
        named = {config.REDIS[0]: url}
        with Witness(arena) as witness, arena.serving(2, **named) as serve:
            wait_for_leases(arena, serve, 2)
            full(pid, True)
            serve.until(lambda: refuses(url), 60)
            time.sleep(6)
            witness.blow(idle=True)
            full(pid, False)
            serve.until(arena.over)
    tally = conclude(arena, witness, "Redis with a full disk")
    assert tally.closed == MATCHES
    assert tally.p95 is not None
    assert tally.p95 < RESUME_SECONDS


def test_idle_workers_continue_soon_after_a_long_absence_of_redis(
    arena: Arena, conclude: Conclude
) -> None:
    """Without a limit, RQ's pauses between two attempts to connect double up to 60 s.

    After an absence of 40 s the next attempt would be about 27 s late.
    """
    directory = arena.temporary / "redis"
    directory.mkdir()
    with redis_server.start(directory, ProcessLog(arena.temporary / "redis.log")) as server:
        with Witness(arena) as witness, arena.serving(1, **{config.REDIS[0]: server.url}) as serve:
            with serve.redis() as connection:
                serve.until(lambda: waits_for_a_job(connection))
            server.stop()
            time.sleep(ABSENCE)
            server.start()
            schedule_matches(arena, AFTERWARDS)
            witness.blow(idle=True)
            serve.until(arena.over)
        (arena.temporary / "redis.log").unlink()
    directory.rmdir()
    tally = conclude(arena, witness, "Redis away for long")
    assert tally.closed == AFTERWARDS
    assert max(tally.resumed) < RESUME_SECONDS


def waits_for_a_job(connection: Redis) -> bool:
    return any(client["cmd"] == "blmove" for client in connection.client_list())


@contextmanager
def redis_on_disk(directory: Path) -> Iterator[tuple[str, int]]:
    """Run a Redis that writes to disk, as an organiser's server may do."""
    directory.mkdir()
    binary = redis_server.bundled()
    assert binary is not None
    socket = directory / "redis.sock"
    options = f"--port 0 --unixsocket {socket} --dir {directory} --appendonly yes --save"
    # Python ignores SIGXFSZ, so a write beyond the limit fails as on a full disk.
    line = [str(binary), *options.split(), ""]
    with GuardedProcess(line, stdout=subprocess.DEVNULL, restore_signals=False) as server:
        wait_until(socket.exists)
        yield f"unix://{socket}", server.pid
        server.terminate()
    for path in sorted(directory.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    directory.rmdir()


def refuses(url: str) -> bool:
    with redis_connection.connect(url) as connection:
        try:
            connection.set("anything", 1)
        except ResponseError as error:
            return "MISCONF" in str(error)
    return False


def full(pid: int, yes: bool) -> None:
    """Forbid or allow a process to extend files."""
    most = 1 if yes else resource.RLIM_INFINITY
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
