"""What a table and a match cost besides playing.

    uv run python -m bench starts

Start of a table: two cold Python bots, from their start as processes to the end of the first game
of one board. A worker's overhead: the time from the end of a match to the end of the next under
one worker (hint, fork, lease, commits, closing), less the time the same matches take when they
are played without queue, worker and store.
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

from arena import scheduler
from arena.bots import archive, resolver
from arena.folder import Folder
from arena.match.runner import play_match
from arena.services import Services
from arena.store import course, database, listing, matches, tournaments, versions
from arena.store.spec import Plan
from arena.store.tournaments import Tournament
from bench.figure import Figure, Target
from bench.processes import started
from bench.table import table

MATCHES = 8
BOT = "meek"


def cold_table(referee: str) -> float:
    """Seconds it takes to start two bots and play one board."""
    bot = ["bot.py", "play", "1"]
    began = time.perf_counter()
    with started(bot, bot) as bots:
        table(referee, bots, 1)
        return time.perf_counter() - began


def schedule(engine: Engine, where: Folder) -> Tournament:
    """A tournament of short matches between two versions of a house bot."""
    bot = archive.admit(resolver.sample(BOT), where.versions)
    names = []
    for name in ("one", "two"):
        assert bot.folder is not None
        content = archive.content_hash(bot) + name
        names.append(versions.add(engine, name, "1", content, str(bot.folder), {}).id)
    plan = Plan(
        "bench", "poke", {"must_beat": True}, seats=2, boards=1, settings={"cycles": MATCHES}
    )
    return scheduler.begin(engine, plan, names, bytes(32))


def with_worker(engine: Engine, where: Folder) -> float:
    """Seconds from the end of one match to the end of the next, under one worker."""
    cup = schedule(engine, where)
    with Services(where, 1):
        while tournaments.progress(engine, cup.id).open:
            time.sleep(0.05)
    ends = sorted(m.ended for m in listing.matches(engine, tournament=cup.id) if m.ended)
    return (ends[-1] - ends[0]) / (len(ends) - 1)


def without_worker(engine: Engine, where: Folder) -> float:
    """Seconds the same matches take in a process that does nothing else."""
    cup = schedule(engine, where)
    bots = [resolver.from_folder(Path(versions.find(engine, name).folder)) for name in cup.entrants]
    with started(["-m", "referee"]) as (referee,):
        taken = []
        for match in listing.matches(engine, tournament=cup.id):
            lease = matches.lease(engine, match.id, "bench", 600.0)
            assert lease is not None
            began = time.perf_counter()
            play_match(lease.spec, referee, bots, lambda game: None)
            taken.append(time.perf_counter() - began)
    course.cancel(engine, cup.id)
    return statistics.mean(taken)


def overhead(rounds: int) -> Figure:
    """A match under a worker beside the same played alone."""
    queued, alone = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            where = Folder(Path(folder)).create()
            engine = database.open(where.database_url({}))
            database.upgrade(engine)
            alone.append(without_worker(engine, where))
            queued.append(with_worker(engine, where))
            engine.dispose()
    more = statistics.median(one - other for one, other in zip(queued, alone, strict=True))
    return Figure(
        "match of two one-board tables under a worker",
        "s",
        queued,
        "played alone",
        alone,
        note=f"so a worker adds {more:.2f} s (target at most 0.3)",
    )


def figures(rounds: int) -> Iterator[Figure]:
    """A cold table; what a worker adds to a match."""
    with started(["-m", "referee"]) as (referee,):
        taken = [cold_table(referee) for _ in range(rounds + 2)]
    name = "table of two cold Python bots, first game included"
    yield Figure(name, "s", taken, target=Target(1.0, at_most=True))
    yield overhead(max(1, rounds // 3))
