"""Measure matches per second with one, two and four workers, compared with linear scaling.

    uv run python -m bench workers

Uses real services: Redis, referee, store, sandboxes. Each round plays the same tournament once with
each number of workers, alternately, and once with one worker and all services on a single core. The
ideal is that rate times the smaller of the numbers of workers and cores. The rate of one worker on
all cores is printed, but the ideal does not use it: a match of two Python bots and a referee
sometimes uses more than one core.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from arena.bots import resolver
from arena.system.process_info import cores
from bench import house_bot_tournament
from bench.figure import Figure, FigureTarget

WORKERS = (1, 2, 4)
CYCLES = 16
BOARDS = 10
BOTS = ("meek", "bold")
UNIT = "matches a second"
TARGET = 0.95
"""At least this share of the ideal."""


def matches_a_second(workers: int) -> float:
    """Return the rate while all workers play.

    The measurement begins when a worker ends the first match. It ends when a worker finds no
    further match: from then on that worker leaves its core idle.
    """
    with house_bot_tournament.store() as (engine, data_folder):
        bots = {name: resolver.sample(name) for name in BOTS}
        scheduled = house_bot_tournament.schedule(
            engine, data_folder, bots, boards=BOARDS, cycles=CYCLES
        )
        ends = house_bot_tournament.played(engine, data_folder, scheduled, workers)
    # At this end the other workers still play the last matches.
    last = len(ends) - workers
    return last / (ends[last] - ends[0])


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
    rates: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    for _ in range(rounds):
        with one_core():
            single.append(matches_a_second(1))
        for workers in WORKERS:
            rates[workers].append(matches_a_second(workers))
    title = f"matches of {BOARDS} boards of poke"
    yield Figure(f"{title} with 1 worker on a single core", UNIT, single)
    for workers, speeds in rates.items():
        name = f"{title} with {workers} worker{'s' * (workers > 1)}"
        times = min(workers, cores())
        ideal = [times * rate for rate in single]
        peer = f"{times} x the single core"
        yield Figure(name, UNIT, speeds, peer, ideal, FigureTarget(TARGET, of_ratio=True))
