"""Measure ten tables of bots that wait for each answer, as models do, compared with one table.

    uv run python -m bench model_tables

Uses real services: Redis, referees, store, sandboxes. A table of such bots is idle nearly all the
time, so ten workers should play ten of them on two cores in little more than the time of one. The
time is from the lease of the first match to the end of the last. A model waits for 5 s or more per
answer; these bots wait for less, and the share of the arena's own work is larger.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine, func, select

from arena.bots.resolver import local
from arena.config import Folder
from arena.services.local import Services
from arena.store import schema
from arena.store.database import read_rows
from arena.store.match_settings import Clock
from arena.store.tournaments import tournaments
from bench import house_bot_tournament
from bench.figure import Figure, FigureTarget

TABLES = 10
WAIT_SECONDS = 1.0
GAME = "saint_poker"
TARGET = 1.3
"""At most this multiple of the time of one table."""
BOT = f"""
import json, sys, time
for line in sys.stdin:
    if "act" in json.loads(line):
        time.sleep({WAIT_SECONDS})
        print(0, flush=True)
    else:
        print("{{}}", flush=True)
"""


def seconds(engine: Engine, data_folder: Folder, folder: Path, tables: int) -> float:
    """Return the time that matches of two waiting bots take."""
    bots = {f"waiting-{tables}-{side}": local(folder) for side in "ab"}
    scheduled = house_bot_tournament.schedule(
        engine, data_folder, bots, boards=1, cycles=tables, game=GAME, clock=Clock(60_000, 60_000)
    )
    while tournaments.progress(engine, scheduled.id).open:
        time.sleep(house_bot_tournament.POLL_SECONDS)
    matches = schema.matches
    times = select(func.max(matches.c.ended) - func.min(matches.c.leased))
    query = times.where(matches.c.tournament == scheduled.id)
    return float(read_rows(engine, query).scalar_one())


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the time of ten tables, compared with that of one in the same services."""
    single, parallel = [], []
    for _ in range(rounds):
        with (
            house_bot_tournament.store() as (engine, data_folder),
            tempfile.TemporaryDirectory() as folder,
        ):
            (Path(folder) / "bot.py").write_text(BOT, encoding="utf-8")
            (Path(folder) / "bot.toml").write_text(
                'name = "waiting"\nrun = ["python", "bot.py"]\ntransport = "stdio"\n',
                encoding="utf-8",
            )
            with Services(data_folder, TABLES):
                single.append(seconds(engine, data_folder, Path(folder), 1))
                parallel.append(seconds(engine, data_folder, Path(folder), TABLES))
    name = f"{TABLES} matches of {GAME} whose bots wait {WAIT_SECONDS:g} s per answer"
    target = FigureTarget(TARGET, at_most=True, of_ratio=True)
    yield Figure(name, "s", parallel, "one such match", single, target)
