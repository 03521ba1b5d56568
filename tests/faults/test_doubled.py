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

MATCHES = 20
"""Enough matches for two workers, even if one starts late."""
FEWER = 8
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
    arena.schedule([arena.slow("first"), arena.slow("last", choice=-1)], cycles=FEWER)
    over = threading.Event()

    def sweep(url: str) -> int:
        with redis_connection.connect(url) as connection:
            sweeper = Sweeper(arena.engine, connection)
            sweeps = 0
            while not over.wait(0.01):
                sweeper.sweep()
                sweeps += 1
        return sweeps

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
        assert all(sweeps.result() for sweeps in sweeping)
        delivering.result()
    conclude(arena, witness, "three sweepers, every job five times")
    once_each(arena)


@pytest.mark.parametrize("off", [HOUR, pytest.param(-HOUR, marks=pytest.mark.repetition)])
def test_a_worker_with_a_clock_off_by_an_hour(arena: Arena, conclude: Conclude, off: int) -> None:
    arena.schedule([arena.slow("first"), arena.slow("last", choice=-1)], cycles=MATCHES)
    shifted = {"LD_PRELOAD": str(shim(arena)), "CLOCK_OFF": str(off)}
    with Witness(arena) as witness, arena.serving(1) as serve, worker(arena, serve, shifted) as log:
        serve.until(arena.over)
    conclude(arena, witness, f"a worker's clock {off:+d} s off")
    once_each(arena)
    # Both workers played matches, and all times in the store are from the same clock.
    assert 0 < log.read_text().count(": closed") < MATCHES
    [(first, last)] = arena.sql("SELECT min(committed), max(committed) FROM games")
    assert time.time() - 600 < first < last < time.time() + 1


@contextlib.contextmanager
def worker(arena: Arena, serve: ServeProcess, environment: dict[str, str]) -> Iterator[Path]:
    """Run a worker beside those of the services, with a data folder of its own.

    Yields:
        The worker's log.
    """
    data = arena.root / "elsewhere"
    command = [sys.executable, "-P", "-m", "arena.services.worker_process", "--name", "elsewhere"]
    services = {"POKEARENA_REDIS_URL": serve.url, "POKEARENA_DATABASE_URL": arena.url}
    with (
        (arena.root / "worker.log").open("wb") as errors,
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
