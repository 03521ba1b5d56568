"""Measure matches per second with one, two and four workers, and the idle time of eight workers.

    uv run python -m bench workers

Uses real services: Redis, referee, store, sandboxes. Each round plays the same tournament once with
each number of workers, alternately, and once with one worker and all services on a single core. The
ideal is that rate times the smaller of the numbers of workers and cores. The rate of one worker on
all cores is printed, but the ideal does not use it: a match of two Python bots and a referee
sometimes uses more than one core.

The share of idle time is sampled while matches of one board, the shortest form, are due: a worker
is idle if it is registered without a match.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from arena.bots import resolver
from arena.services.local import Services
from arena.services.queue.worker_registrations import workers
from arena.store.matches import match_leases
from arena.system.process_info import cores
from arena.system.redis_connection import connect
from bench import house_bot_tournament
from bench.figure import Figure, FigureTarget

WORKERS = (1, 2, 4)
CYCLES = 16
BOARDS = 10
BOTS = ("meek", "bold")
UNIT = "matches a second"
TARGET = 0.95
"""At least this share of the ideal."""
IDLE_WORKERS, IDLE_CYCLES = 8, 80
MOST_IDLE = 3.0
"""At most this share of the time of workers, in percent, may pass idle while matches are due."""
SAMPLE_SECONDS = 0.05


def matches_a_second(number: int) -> float:
    """Return the rate while all workers play.

    The measurement begins when a worker ends the first match. It ends when a worker finds no
    further match: from then on that worker leaves its core idle.
    """
    with house_bot_tournament.store() as (engine, data_folder):
        bots = {name: resolver.sample(name) for name in BOTS}
        scheduled = house_bot_tournament.schedule(
            engine, data_folder, bots, boards=BOARDS, cycles=CYCLES
        )
        ends = house_bot_tournament.played(engine, data_folder, scheduled, number)
    # At this end the other workers still play the last matches.
    last = len(ends) - number
    return last / (ends[last] - ends[0])


def idle_percent() -> float:
    """Return the share of worker time that passes idle while matches are due."""
    idle = samples = 0
    with house_bot_tournament.store() as (engine, data_folder):
        bots = {name: resolver.sample(name) for name in BOTS}
        house_bot_tournament.schedule(engine, data_folder, bots, boards=1, cycles=IDLE_CYCLES)
        with (
            Services(data_folder, IDLE_WORKERS) as services,
            connect(services.snapshot.redis.url) as redis,
        ):
            has_begun = False
            while match_leases.due(engine, 1):
                busy = sum(bool(worker.match) for worker in workers(redis))
                has_begun = has_begun or busy == IDLE_WORKERS
                if has_begun:
                    idle, samples = idle + IDLE_WORKERS - busy, samples + IDLE_WORKERS
                time.sleep(SAMPLE_SECONDS)
    return 100 * idle / samples


@contextmanager
def one_core() -> Iterator[None]:
    """Confine this process, and the processes it starts, to a single core."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the rate for each number of workers, compared with the ideal."""
    single: list[float] = []
    rates: dict[int, list[float]] = {number: [] for number in WORKERS}
    for _ in range(rounds):
        with one_core():
            single.append(matches_a_second(1))
        for number in WORKERS:
            rates[number].append(matches_a_second(number))
    title = f"matches of {BOARDS} boards of poke"
    yield Figure(f"{title} with 1 worker on a single core", UNIT, single)
    for number, speeds in rates.items():
        name = f"{title} with {number} worker{'s' * (number > 1)}"
        times = min(number, cores())
        ideal = [times * rate for rate in single]
        peer = f"{times} x the single core"
        yield Figure(name, UNIT, speeds, peer, ideal, FigureTarget(TARGET, of_ratio=True))
    idle = [idle_percent() for _ in range(rounds)]
    name = f"idle time of {IDLE_WORKERS} workers while matches of one board are due"
    yield Figure(name, "%", idle, target=FigureTarget(MOST_IDLE, at_most=True))
