"""Matches a second with one, two and four workers, beside as many times what one does.

    uv run python -m bench workers

Real services: Redis, referee, store, sandboxes. Each round plays the same tournament once with each
number of workers, by turns. The ideal is the rate of one worker times the workers, or times the
cores if these are fewer; a match of two Python bots and a referee keeps more than one core busy at
times, so one worker alone may have more than one core's worth already.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from arena import scheduler
from arena.bots import archive, resolver
from arena.folder import Folder
from arena.services import Services, cores
from arena.store import database, listing, tournaments, versions
from arena.store.spec import Plan
from bench.figure import Figure

WORKERS = (1, 2, 4)
CYCLES = 8
BOARDS = 10
BOTS = ("meek", "bold")


def matches_a_second(workers: int) -> float:
    """From the end of the first match to the end of the last one."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        where = Folder(Path(folder)).create()
        engine = database.open(where.database_url({}))
        database.upgrade(engine)
        entered = []
        for name in BOTS:
            bot = archive.admit(resolver.sample(name), where.versions)
            content = archive.content_hash(bot)
            entered.append(versions.add(engine, name, "1", content, str(bot.folder), {}).id)
        settings = {"cycles": CYCLES}
        plan = Plan("bench", "poke", {"must_beat": True}, 2, BOARDS, settings=settings)
        cup = scheduler.begin(engine, plan, entered, bytes(32))
        with Services(where, workers):
            while tournaments.progress(engine, cup.id).open:
                time.sleep(0.05)
        ends = sorted(m.ended for m in listing.matches(engine, tournament=cup.id) if m.ended)
        engine.dispose()
    # What ends together with the first has been paid for before the clock began.
    late = ends[min(workers, len(ends) - 1) :]
    return len(late) / (late[-1] - ends[0])


def figures(rounds: int) -> Iterator[Figure]:
    """Each number of workers beside the ideal."""
    rates: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    for _ in range(rounds):
        for workers in WORKERS:
            rates[workers].append(matches_a_second(workers))
    for workers, found in rates.items():
        name = f"matches of {BOARDS} boards of poke with {workers} worker{'s' * (workers > 1)}"
        if workers == 1:
            yield Figure(name, "matches a second", found)
            continue
        times = min(workers, cores())
        ideal = [times * rate for rate in rates[1]]
        yield Figure(name, "matches a second", found, f"{times} times that of one", ideal)
