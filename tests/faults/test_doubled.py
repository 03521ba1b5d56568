"""Duplicate jobs, sweepers and services, and clocks that differ, double no match."""

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.config import Folder
from arena.services.queue.match_queue import MatchQueue
from arena.services.queue.sweeper import Sweeper
from arena.system import redis_connection
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena, ServeProcess
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

MATCHES = 8
NAP = 1.0
"""Seconds for each decision until `Arena.pace` is called."""
HOUR = 3600
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long off(void) { return atol(getenv("CLOCK_OFF")); }
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int r = real(id, t);
    if (id == CLOCK_REALTIME) t->tv_sec += off();
    return r;
}
int gettimeofday(struct timeval *t, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t) *t = now.tv_sec;
    return now.tv_sec;
}
"""
"""Shifts the wall clock of a process and its descendants by CLOCK_OFF seconds."""


def once_each(arena: Arena) -> None:
    """Assert that every match was leased once and did not fail."""
    assert arena.sql("SELECT DISTINCT attempt, failures, state FROM matches") == [(1, 0, "CLOSED")]


def test_three_sweepers_and_five_deliveries_of_every_job(arena: Arena, conclude: Conclude) -> None:
    arena.schedule([arena.slow("first"), arena.slow("last", choice=-1)], cycles=MATCHES)
    over = threading.Event()

    def sweep(url: str) -> int:
        with redis_connection.connect(url) as connection:
            sweeper = Sweeper(arena.engine, connection)
            put = 0
            while not over.wait(0.01):
                put += sweeper.sweep()
        return put

    def deliver(url: str) -> None:
        with redis_connection.connect(url) as connection:
            while not over.wait(0.1):
                for (match,) in arena.sql("SELECT id FROM matches WHERE state <> 'CLOSED'"):
                    MatchQueue(connection).enqueue(match)
                    connection.rpush("rq:queue:matches", *[match] * 4)

    with Witness(arena) as witness, arena.serving(2) as serve, ThreadPoolExecutor(3) as pool:
        sweeping = [pool.submit(sweep, serve.url) for _ in range(2)]
        delivering = pool.submit(deliver, serve.url)
        try:
            # Jobs of closed matches have no effect and are removed.
            serve.until(arena.over)
        finally:
            over.set()
        assert sum(sweep_count.result() for sweep_count in sweeping) > 0
        delivering.result()
    conclude(arena, witness, "three sweepers, every job five times")
    once_each(arena)


def test_workers_with_clocks_off_by_an_hour(arena: Arena, conclude: Conclude) -> None:
    library = str(shim(arena))
    # Each of three workers holds one of three matches before the first one ends.
    entrants = [arena.slow("first", NAP), arena.slow("last", NAP, -1)]
    arena.schedule(entrants, cycles=3)
    with Witness(arena) as witness, arena.serving(1) as serve, contextlib.ExitStack() as stack:
        logs = [
            stack.enter_context(
                worker(arena, serve, {"LD_PRELOAD": library, "CLOCK_OFF": str(off)})
            )
            for off in (HOUR, -HOUR)
        ]
        running = "SELECT 1 FROM matches WHERE state = 'RUNNING'"
        serve.until(lambda: len(arena.sql(running)) == 3)
        arena.pace(0, "first", "last")
        serve.until(arena.over)
    conclude(arena, witness, "workers' clocks an hour off")
    once_each(arena)
    # All times in the store are from the same clock.
    assert [log.read_text().count(": closed") for log in logs] == [1, 1]
    [(first, last)] = arena.sql("SELECT min(committed), max(committed) FROM games")
    assert time.time() - 600 < first < last < time.time() + 1


@contextlib.contextmanager
def worker(arena: Arena, serve: ServeProcess, environment: dict[str, str]) -> Iterator[Path]:
    """Run a worker beside those of the services, with a data folder of its own.

    Yields:
        The worker's log.
    """
    name = f"elsewhere{environment['CLOCK_OFF']}"
    data = arena.root / name
    command = [sys.executable, "-P", "-m", "arena.services.worker_process", "--name", name]
    services = {"POKEARENA_REDIS_URL": serve.url, "POKEARENA_DATABASE_URL": arena.url}
    with (
        (arena.root / f"{name}.log").open("wb") as errors,
        subprocess.Popen(
            [*command, "--data", str(data)],
            env=arena.environment(**services, **environment),
            stderr=errors,
        ) as process,
    ):
        yield Folder(data).service_logs / "worker-1.log"
        process.terminate()


def shim(arena: Arena) -> Path:
    """Compile the library that shifts the clock, check it, and return its path."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    source, library = arena.root / "shim.c", arena.root / "shim.so"
    source.write_text(SHIM)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    shifted_time = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env={**os.environ, "LD_PRELOAD": str(library), "CLOCK_OFF": str(HOUR)},
        capture_output=True,
        check=True,
    )
    assert abs(float(shifted_time.stdout) - time.time() - HOUR) < 60
    return library
