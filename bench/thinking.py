"""Measure the share of a match in which its bots think, for bots that think 1, 10 and 100 ms.

    uv run python -m bench thinking

One worker plays matches of Poke with all services (Redis, sweeper, referee, sandboxes) on a single
core. The bots spend a fixed CPU time per decision, so all of it and all work of the arena add up to
the elapsed time. The share is the bots' time in a match divided by the time from the end of the
match before it; it includes the start of the bots.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine, select

from arena.bots import resolver
from arena.bots.bot import Bot
from arena.ratings.decision_histogram import DecisionHistogram
from arena.store.database import reading
from arena.store.schema import results
from bench import house_bot_tournament
from bench.figure import Figure, FigureTarget
from bench.workers import one_core

BOARDS = {1: 10, 10: 4, 100: 1}
"""Boards of a match, by the bots' milliseconds per decision."""
TARGET_FROM_MS, TARGET = 10, 0.95
MATCHES = 2

PROGRAM = """\
import time

from pokearena_bot import run


def choose(turn):
    end = time.thread_time() + {ms} / 1000
    while time.thread_time() < end:
        pass
    return turn.legal[0]


run(choose)
"""
MANIFEST = """\
name = "thinker"
language = "python"
games = ["poke"]
run = ["python", "bot.py"]
"""


def thinker(folder: Path, ms: int) -> Bot:
    """Return a bot that thinks for `ms` milliseconds of CPU time per decision."""
    (folder / "bot.py").write_text(PROGRAM.format(ms=ms))
    (folder / "bot.toml").write_text(MANIFEST)
    return resolver.from_folder(folder)


def decisions_by_match(engine: Engine) -> list[int]:
    """Return the number of decisions of each closed match, in the order of their ends."""
    query = select(results.c.thinking).order_by(results.c.closed)
    with reading(engine) as connection:
        rows = connection.execute(query).all()
    return [sum(DecisionHistogram.read(each).decisions for each in row.thinking) for row in rows]


def thinking_share(ms: int) -> float:
    """Return the bots' share of the elapsed time of the last match."""
    with (
        tempfile.TemporaryDirectory() as folder,
        house_bot_tournament.store() as (engine, data_folder),
        one_core(),
    ):
        bots = dict.fromkeys(("one", "two"), thinker(Path(folder), ms))
        scheduled = house_bot_tournament.schedule(
            engine, data_folder, bots, boards=BOARDS[ms], cycles=MATCHES
        )
        ends = house_bot_tournament.played(engine, data_folder, scheduled, 1)
        seconds = decisions_by_match(engine)[-1] * ms / 1000
    return seconds / (ends[-1] - ends[-2])


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the share for each thinking time."""
    for ms, boards in BOARDS.items():
        shares = [thinking_share(ms) for _ in range(rounds)]
        name = f"bots that think {ms} ms, boards per match: {boards}"
        target = FigureTarget(TARGET) if ms >= TARGET_FROM_MS else None
        yield Figure(name, "of the match", shares, target=target)
