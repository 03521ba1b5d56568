"""Measure a ladder of 1,000 bots and 100,000 matches, and the fit of one of 10,000 bots.

    uv run python -m bench ladder
    uv run python -m bench.ladder [--rounds 1]

Each round rates the matches from nothing, and reads the ladder by the command and by its page. In
another, idle arena it closes single matches beside the service that rates, until the rows contain
them. The large fit is
of ten million simulated matches, 70 % between neighbours in strength; its peer is the largest fit
by matrices of everyone against everyone.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles

import numpy as np

from arena.config import Folder
from arena.ladders import rater
from arena.ratings.meetings import Meetings
from arena.ratings.packed_sums import LineUpBlock, PackedSums, merge
from arena.ratings.scale import ELO
from arena.ratings.strength import fit
from arena.ratings.strength.fit import strengths
from arena.services.rating_service import RatingService
from arena.store import database
from bench import closed_matches
from bench.arguments import at_least
from bench.commands import cpu_seconds
from bench.figure import Figure, FigureTarget, figure_text

BOTS, MATCHES = 1_000, 100_000
IDLE_BOTS, CLOSINGS = 30, 40
"""A larger ladder takes longer: its fits use a tenth of a core at most (`arena.ladders.rater`)."""
LARGE_BOTS, LARGE_MATCHES = 10_000, 10_000_000
PEER_BOTS, PEER_MATCHES = fit.MAX_DENSE_ENTRANTS, 2_000_000
INSERT_BATCH = 1_000_000
NEAR, DISTANCE = 0.7, 150
"""Share of matches between neighbours, and their mean distance in places."""
STANDINGS_SECONDS, PAGE_SECONDS, ROW_SECONDS, FIT_SECONDS = 0.33, 0.18, 1.5, 30.0
_PAGE = """
import sys, time
from starlette.testclient import TestClient
from arena.store import database
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
import asyncio
web = WebState(database.open(sys.argv[1]), ServerSettings(rate=0))
client = TestClient(create(web))
asyncio.run(web.read_store())
began = time.process_time()
assert client.get("/ladders/poke", headers={"Accept": "text/html"}).status_code == 200
print(time.process_time() - began)
"""


def measure() -> dict[str, float]:
    """Return the figures of the ladder of 1,000 bots, in seconds."""
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(Path(name))
        url = folder.database_url({})
        engine = database.open(url)
        closed_matches.begin(engine, BOTS)
        closed_matches.write(engine, BOTS, 0, MATCHES, dice)
        began = time.process_time()
        rater.advance(engine)
        found = {"rate CPU": (time.process_time() - began) * 1000 / MATCHES}
        found["standings CPU"] = cpu_seconds(["standings", "poke"], folder.root)
        page = subprocess.run(
            [sys.executable, "-c", _PAGE, url], check=True, capture_output=True, text=True
        )
        found["page CPU"] = float(page.stdout)
        engine.dispose()
        return found | {"row p95": quantiles(row_waits(), n=20)[-1]}


def row_waits() -> list[float]:
    """Return the seconds from each closed match to its rows, in an arena that is idle otherwise."""
    dice = random.Random(2)
    with tempfile.TemporaryDirectory() as name:
        engine = database.open(Folder(Path(name)).database_url({}))
        closed_matches.begin(engine, IDLE_BOTS)
        service = RatingService(engine)
        service.start()
        waits = []
        for closed in range(CLOSINGS):
            closed_matches.write(engine, IDLE_BOTS, closed, 1, dice)
            began = time.perf_counter()
            while closed_matches.rated(engine) <= closed:
                time.sleep(0.01)
            waits.append(time.perf_counter() - began)
        service.stop()
        engine.dispose()
        return waits


def meetings(bots: int, matches: int) -> Meetings:
    """Return simulated matches. Bots are numbered in order of their true strength."""
    dice = np.random.default_rng(1)
    truth = np.sort(dice.normal(0, 200 / ELO, bots))
    names = tuple(f"bot{number:05}@1" for number in range(bots))
    tables = []
    for begin in range(0, matches, INSERT_BATCH):
        many = min(INSERT_BATCH, matches - begin)
        first = dice.integers(bots, size=many)
        distance = np.maximum(np.abs(np.rint(dice.normal(0, DISTANCE, many))), 1).astype(np.int64)
        near = np.where(first + distance < bots, first + distance, first - distance) % bots
        far = (first + dice.integers(1, bots, size=many)) % bots
        second = np.where(dice.random(many) < NEAR, near, far)
        low, high = np.minimum(first, second), np.maximum(first, second)
        won = dice.random(many) < 1 / (1 + np.exp(truth[high] - truth[low]))
        tables.append(PackedSums(names, tuple(_blocks(low * bots + high, won, bots))))
    return Meetings(merge(tables))


def _blocks(
    keys: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    won: "np.ndarray[tuple[int], np.dtype[np.bool_]]",
    bots: int,
) -> Iterator[LineUpBlock]:
    """Yield the pairs that met several times, and those that met once."""
    order = np.argsort(keys, kind="stable")
    keys, begins = np.unique(keys[order], return_index=True)
    halves = np.add.reduceat(2 * won[order].astype(np.int64), begins)
    count = np.diff(np.append(begins, len(order)))
    entrants = np.column_stack(np.divmod(keys, bots)).astype(np.int32)
    for once in (False, True):
        rows = (count == 1) == once
        products = 2 * halves[rows, None] if not once else np.zeros((rows.sum(), 0), np.int64)
        yield LineUpBlock(
            1, once, entrants[rows], count[rows].astype(np.int32), halves[rows, None], products
        )


def fitted(bots: int, matches: int) -> float:
    """Return the seconds of a fit."""
    table = meetings(bots, matches)
    began = time.perf_counter()
    strengths(table)
    return time.perf_counter() - began


def in_process(*arguments: str) -> dict[str, float]:
    """Measure in a new process."""
    command = [sys.executable, "-m", "bench.ladder", *arguments]
    folder = Path(__file__).parent.parent
    output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    measured: dict[str, float] = json.loads(output.stdout)
    return measured


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of both ladders."""
    ladders = [in_process("--measure") for _ in range(rounds)]

    def figure(name: str, key: str, unit: str, bound: float | None = None) -> Figure:
        target = None if bound is None else FigureTarget(bound, at_most=True)
        return Figure(name, unit, [each[key] for each in ladders], target=target)

    yield figure("rate 100,000 matches from nothing", "rate CPU", "ms CPU each")
    yield figure("standings of 1,000 bots", "standings CPU", "s CPU", STANDINGS_SECONDS)
    yield figure("first page of this ladder", "page CPU", "s CPU", PAGE_SECONDS)
    yield figure(
        f"a closed match is in the rows of a ladder of {IDLE_BOTS} bots, p95",
        "row p95",
        "s",
        ROW_SECONDS,
    )
    sizes = ((LARGE_BOTS, LARGE_MATCHES), (PEER_BOTS, PEER_MATCHES))
    fits = [[in_process("--fit", *map(str, size))["fit"] for size in sizes] for _ in range(rounds)]
    large, peer = zip(*fits, strict=True)
    yield Figure(
        f"fit of {LARGE_BOTS:,} bots and {LARGE_MATCHES:,} matches",
        "s",
        large,
        f"{PEER_BOTS:,} bots by matrices",
        peer,
        FigureTarget(FIT_SECONDS, at_most=True),
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=at_least(1), default=1)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--fit", type=int, nargs=2, metavar=("BOTS", "MATCHES"))
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure()))
        return
    if options.fit:
        print(json.dumps({"fit": fitted(*options.fit)}))
        return
    for each in figures(options.rounds):
        print(figure_text(each), flush=True)


if __name__ == "__main__":
    main()
