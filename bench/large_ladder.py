"""Measure a ladder of 10,000 bots and ten million matches: fit, pages, start, and memory.

    uv run python -m bench large_ladder
    uv run python -m bench.large_ladder [--rounds 1]

Simulated matches of one game: 70 % between neighbours in strength, the others between random bots.
Each round fits this ladder, and as a peer one of 2,000 bots, which is fitted by matrices of
everyone against everyone. Each fit runs in its own process, which then renders pages; its memory is
the maximum of the whole process, with the simulation. At last a process that starts reads the
stored ladder.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, insert
from starlette.testclient import TestClient

from arena.ladders import ladder_key, stored_ladders
from arena.ladders.ladder_key import LadderKey
from arena.ladders.ladder_sums import LadderSums
from arena.presentation.registry import presentation_of
from arena.ratings.closed_match import FINISHED, ClosedGame, ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.elo import OPEN_ROUNDS, EloSettings
from arena.ratings.match_digest import digest
from arena.ratings.meetings import Meetings
from arena.ratings.packed_sums import LineUpBlock, PackedSums, merge
from arena.ratings.scale import ELO
from arena.ratings.standings import Standings, StandingsLine, StandingsSums
from arena.ratings.strength import fit
from arena.ratings.strength.fit import Strength, strengths
from arena.store import database, schema
from arena.store.schema import TournamentState
from arena.web.app import create
from arena.web.data.snapshot import ArenaSnapshot, LadderSnapshot
from arena.web.data.web_state import ServerSettings, WebState
from bench import ladder_rows
from bench.arguments import at_least
from bench.figure import Figure, FigureTarget, figure_text

TOURNAMENT = "t-bench"
BOTS, MATCHES = 10_000, 10_000_000
PEER_BOTS, PEER_MATCHES = fit.MAX_DENSE_ENTRANTS, 2_000_000
"""The largest ladder that is fitted by matrices; as many matches per bot."""
INSERT_BATCH = 1_000_000
NEAR, DISTANCE = 0.7, 150
"""Share of matches between neighbours, and their mean distance in places."""
GAME = "poke"
FIT_SECONDS, PAGE_SECONDS, MEGABYTES = 30.0, 2.0, 1000.0
PAGES = ("/ladders/poke", "/ladders/poke?sort=elo&page=20", "/ladders/poke/matrix")


def meetings(bots: int, matches: int) -> Meetings:
    """Return simulated matches. Bots are numbered in order of their true strength."""
    dice = np.random.default_rng(1)
    truth = np.sort(dice.normal(0, 200 / ELO, bots))
    names = tuple(f"bot{number:05}@1" for number in range(bots))
    total = PackedSums(names, ())
    for begin in range(0, matches, INSERT_BATCH):
        many = min(INSERT_BATCH, matches - begin)
        first = dice.integers(bots, size=many)
        distance = np.maximum(np.abs(np.rint(dice.normal(0, DISTANCE, many))), 1).astype(np.int64)
        near = np.where(first + distance < bots, first + distance, first - distance) % bots
        far = (first + dice.integers(1, bots, size=many)) % bots
        second = np.where(dice.random(many) < NEAR, near, far)
        low, high = np.minimum(first, second), np.maximum(first, second)
        won = dice.random(many) < 1 / (1 + np.exp(truth[high] - truth[low]))
        total = merge(total, PackedSums(names, tuple(_blocks(low * bots + high, won, bots))))
    return Meetings(total)


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


def standings(table: Meetings) -> Standings:
    """Fit the strengths, and add other columns with arbitrary values."""
    fitted = strengths(table)
    lines = tuple(map(_line, fitted.lines))
    return Standings(lines, fitted, EloSettings(), presentation_of(GAME).clip, table, {})


def _line(strength: Strength) -> StandingsLine:
    games, third = strength.matches, strength.matches // 3
    return StandingsLine(
        strength.entrant,
        strength,
        elo=strength.value,
        matches=games,
        games=games,
        wins=third,
        draws=third,
        losses=games - 2 * third,
        points=0,
        board=None,
        mean=0.5,
        faults={},
        forfeits=0,
    )


def measure(bots: int, matches: int) -> dict[str, float]:
    """Return seconds of the fit and of pages, and the megabytes of this process."""
    table = meetings(bots, matches)
    cpu, began = time.process_time(), time.perf_counter()
    ladder = standings(table)
    figures = {
        "fit": time.perf_counter() - began,
        "fit CPU": time.process_time() - cpu,
        "pairs": float(len(table.sums)),
    }
    key = LadderKey("poke", GAME, 2, ("t-bench",))
    with tempfile.TemporaryDirectory() as folder:
        engine = database.open(f"sqlite:///{folder}/arena.db")
        database.upgrade(engine)
        web = WebState(engine, ServerSettings(rate=0))
        web.snapshot = ArenaSnapshot(1.0, {"poke": LadderSnapshot(key, ladder, {})})
        # The application's background tasks do not run, so the snapshot stays.
        client = TestClient(create(web))
        for page in PAGES:
            figures[page], figures[f"{page} CPU"] = _timed(partial(_get, client, page))
        figures["megabytes"] = _megabytes()
        _, figures["store CPU"] = _timed(partial(_store, engine, ladder))
        figures["store megabytes"] = _megabytes()
        engine.dispose()
        return figures | in_process("--start", folder)


def _store(engine: Engine, ladder: Standings) -> None:
    """Store the ladder as a web server does, with the matches of 16 rounds for Elo."""
    sums = StandingsSums(ladder.clip)
    count = len(ladder.lines) // 2
    games = (ClosedGame(0, (1, 2), (100, 0), (FINISHED, FINISHED), (0, 0)),)
    names = sorted(ladder.entrants)
    times = dict.fromkeys(names, DecisionHistogram.of(range(1, 60)))
    for at in range(OPEN_ROUNDS * count):
        entrants = names[2 * (at % count)], names[2 * (at % count) + 1]
        match = ClosedMatch(f"m-{at:010}", at // count, at % count, entrants, games)
        sums.add(digest(match, ladder.clip), times)
    sums = StandingsSums.restored(ladder.clip, sums.state(), ladder.meetings)
    with database.writing(engine) as connection:
        values = ladder_rows.tournament(TOURNAMENT, GAME, TournamentState.RUNNING)
        connection.execute(insert(schema.tournaments).values(**values))
    table = replace(ladder, thinking=times)
    (scope,) = ladder_key.of_forms(engine)
    position = {
        "matches": ladder.meetings.matches,
        "corrections": 0,
        "newest": 0.0,
        "recent": {},
        "seen": dict.fromkeys(names, 0.0),
    }
    following = LadderSums.restored(engine, [TOURNAMENT], position, lambda: sums, ladder.clip)
    stored_ladders.store(engine, scope, following, table, 0)


def start(folder: str) -> dict[str, float]:
    """Return the time of the first snapshot and page of a process that starts, and its memory."""
    cpu, began = time.process_time(), time.perf_counter()
    web = WebState(database.open(f"sqlite:///{folder}/arena.db"), ServerSettings(rate=0))
    asyncio.run(web.read_store())
    _get(TestClient(create(web)), PAGES[0])
    return {
        "start": time.perf_counter() - began,
        "start CPU": time.process_time() - cpu,
        "start megabytes": _megabytes(),
    }


def _megabytes() -> float:
    # Not `ru_maxrss`, which is at least that of the process that started this one.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _get(client: TestClient, page: str) -> None:
    response = client.get(page, headers={"Accept": "text/html"})
    assert response.status_code == 200, response.text


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the elapsed time and the CPU time of some work in seconds."""
    cpu, began = time.process_time(), time.perf_counter()
    work()
    return time.perf_counter() - began, time.process_time() - cpu


def in_process(*arguments: str) -> dict[str, float]:
    """Measure in a new process."""
    command = [sys.executable, "-m", "bench.large_ladder", *arguments]
    folder = Path(__file__).parent.parent
    output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    measured: dict[str, float] = json.loads(output.stdout)
    return measured


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the fit, the pages and the memory, compared with the largest fit by matrices."""
    both = ((PEER_BOTS, PEER_MATCHES), (BOTS, MATCHES))
    pairs = [
        tuple(in_process("--measure", *map(str, ladder)) for ladder in both) for _ in range(rounds)
    ]
    ladder, smaller = f"{BOTS:,} bots and {MATCHES:,} matches", f"{PEER_BOTS:,} bots by matrices"
    note = f"{pairs[0][1]['pairs']:,.0f} pairs have met"

    def figure(name: str, key: str, unit: str, bound: float | None, note: str = "") -> Figure:
        beside, values = zip(*((peer[key], large[key]) for peer, large in pairs), strict=True)
        target = None if bound is None else FigureTarget(bound, at_most=True)
        return Figure(name, unit, values, smaller, beside, target, note)

    yield figure(f"strengths of {ladder}", "fit", "s", FIT_SECONDS, note)
    yield figure("the same fit", "fit CPU", "s CPU", None)
    for page in PAGES:
        yield figure(f"first request of {page}", page, "s", PAGE_SECONDS)
        yield figure("the same request", f"{page} CPU", "s CPU", None)
    yield figure("first snapshot and page after a start", "start", "s", PAGE_SECONDS)
    yield figure("the same start", "start CPU", "s CPU", None)
    yield figure("memory after the start", "start megabytes", "MB", MEGABYTES)
    yield figure("the stored ladder computed and written", "store CPU", "s CPU", None)
    yield figure("memory after the write", "store megabytes", "MB", MEGABYTES)
    yield figure(f"memory of the process with {ladder}", "megabytes", "MB", MEGABYTES)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=at_least(1), default=1)
    parser.add_argument("--measure", type=int, nargs=2, metavar=("BOTS", "MATCHES"))
    parser.add_argument("--start", metavar="FOLDER")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    if options.start:
        print(json.dumps(start(options.start)))
        return
    for each in figures(options.rounds):
        print(figure_text(each), flush=True)


if __name__ == "__main__":
    main()
