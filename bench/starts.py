"""Measure the overhead of a table and of a match.

    uv run python -m bench starts

Start of a table: two cold Python bots, from the start of their processes to the end of the first
game of one board. A worker's overhead: the time from the end of one match to the end of the next
under one worker, minus the time of the same match without queue, worker and store. It covers job,
fork, lease, commits and closing.
"""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

from arena.bots import resolver
from arena.config import Folder
from arena.matches.runner import play_match
from arena.store.bots import versions
from arena.store.matches import listing, match_leases
from arena.store.tournaments import lifecycle
from arena.store.tournaments.tournaments import Tournament
from bench import house_bot_tournament
from bench.figure import Figure, FigureTarget
from bench.processes import started
from bench.table import table

MATCHES = 8
BOT = "meek"


def cold_table(referee: str) -> float:
    """Return the seconds needed to start two bots and play one board."""
    bot = ["bot.py", "play", "1"]
    began = time.perf_counter()
    with started(bot, bot) as bots:
        table(referee, bots, 1)
        return time.perf_counter() - began


def schedule(engine: Engine, data_folder: Folder) -> Tournament:
    """Schedule a tournament of short matches between two versions of a house bot."""
    bots = dict.fromkeys(("one", "two"), resolver.sample(BOT))
    return house_bot_tournament.schedule(engine, data_folder, bots, boards=1, cycles=MATCHES)


def with_worker(engine: Engine, data_folder: Folder) -> float:
    """Return the mean seconds between the ends of consecutive matches under one worker."""
    ends = house_bot_tournament.played(engine, data_folder, schedule(engine, data_folder), 1)
    return (ends[-1] - ends[0]) / (len(ends) - 1)


def without_worker(engine: Engine, data_folder: Folder) -> float:
    """Return the mean seconds of the same matches in a process that does nothing else."""
    scheduled = schedule(engine, data_folder)
    entrants = [Path(versions.find_version(engine, name).folder) for name in scheduled.entrants]
    bots = [resolver.from_folder(folder) for folder in entrants]
    with started(["-m", "referee"]) as (referee,):
        taken = []
        for match in listing.matches(engine, tournament=scheduled.id):
            lease = match_leases.lease(engine, match.id, "bench", 600.0)
            assert lease is not None
            began = time.perf_counter()
            play_match(lease.spec, referee, bots, lambda game: None)
            taken.append(time.perf_counter() - began)
    lifecycle.cancel(engine, scheduled.id)
    return statistics.mean(taken)


def overhead(rounds: int) -> Figure:
    """Compare matches under a worker with the same matches played directly."""
    queued, alone = [], []
    for _ in range(rounds):
        with house_bot_tournament.store() as (engine, data_folder):
            alone.append(without_worker(engine, data_folder))
            queued.append(with_worker(engine, data_folder))
    more = statistics.median(
        of_match - of_table for of_match, of_table in zip(queued, alone, strict=True)
    )
    return Figure(
        "match of two one-board tables under a worker",
        "s",
        queued,
        "played alone",
        alone,
        note=f"so a worker adds {more:.2f} s (target at most 0.3)",
    )


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the time of a cold table and the overhead of a worker."""
    with started(["-m", "referee"]) as (referee,):
        taken = [cold_table(referee) for _ in range(rounds + 2)]
    name = "table of two cold Python bots, first game included"
    yield Figure(name, "s", taken, target=FigureTarget(1.0, at_most=True))
    yield overhead(max(1, rounds // 3))
