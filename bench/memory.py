"""Measure the memory of each process of `serve` while matches of all games are played.

    uv run python -m bench memory
    uv run python -m bench.memory [--games 2200] [--minutes 0]

Real services play round robins of house bots, with one worker. After half of the games, which
fill the caches of the referee and of SQLite (2 MB per connection), the slope of each process is
fitted: its growth per 1,000 games. It is not measured per
minute, because the number of games in a minute depends on the load of the machine. A process of
which several have run counts until its restart.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, func, select

from arena.bots import resolver, version_store
from arena.config import DATA, Folder
from arena.store import database, schema
from arena.store.bots import versions
from arena.store.match_settings import TournamentPlan
from arena.tournaments import scheduler
from bench import house_bot_tournament
from bench.arguments import at_least
from bench.figure import Figure, FigureTarget, figure_text
from referee.games.registry import GAMES

GAMES_PLAYED: Final = 2200
BOARDS: Final = 2
BOTS: Final = ("random", "greedy", "bold", "meek")
SLOPES: Final = {"referee-worker-1": 10.0}
"""Highest growth in MB per 1,000 games; the referee of a worker fills its caches."""
OTHER_SLOPE: Final = 1.0
MEGABYTES: Final = 200.0
"""Highest size of a process at the end."""
_WARM_UP: Final = 0.5
_SAMPLE_SECONDS: Final = 2.0

Sample = tuple[int, float]
"""A number of games, and the memory of a process in MB."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the growth and the size of each process."""
    measured = [_measured(GAMES_PLAYED, 0.0) for _ in range(rounds)]
    for name in measured[0]:
        yield from _figures(name, [samples[name] for samples in measured if name in samples])


def slope(samples: Sequence[Sample]) -> float:
    """Return the growth in MB per 1,000 games after the warm-up, by least squares."""
    begin = _WARM_UP * samples[-1][0]
    games, sizes = zip(*[sample for sample in samples if sample[0] >= begin], strict=True)
    if len(set(games)) < 2:
        return 0.0
    return 1000 * statistics.linear_regression(games, sizes).slope


def _figures(name: str, rounds: Sequence[Sequence[Sample]]) -> Iterator[Figure]:
    most = FigureTarget(SLOPES.get(name, OTHER_SLOPE), at_most=True)
    games = rounds[0][-1][0]
    yield Figure(
        f"growth of {name}",
        "MB per 1,000 games",
        [slope(samples) for samples in rounds],
        target=most,
        note=f"{rounds[0][0][1]:.1f} MB at the start, {rounds[0][-1][1]:.1f} after {games} games",
    )
    ends = [samples[-1][1] for samples in rounds]
    yield Figure(f"memory of {name}", "MB", ends, target=FigureTarget(MEGABYTES, at_most=True))


def _measured(games: int, minutes: float) -> dict[str, list[Sample]]:
    """Play at least `games` games, for at least `minutes`; return samples by process."""
    with house_bot_tournament.store() as (engine, data_folder):
        _schedule(engine, data_folder, games if minutes == 0 else 10 * games)
        program = "import sys; from arena.cli import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-P", "-c", program, "serve", "--workers=1", "--port=0"]
        environment = {**os.environ, DATA: str(data_folder.root)}
        with subprocess.Popen(
            [*command, "--no-ladders", "--json"], env=environment, stdout=subprocess.PIPE, text=True
        ) as serve:
            try:
                return _sampled(engine, serve, games, time.monotonic() + 60 * minutes)
            finally:
                serve.send_signal(signal.SIGTERM)


def _schedule(engine: Engine, data_folder: Folder, games: int) -> None:
    """Schedule a round robin of each game, of about the same number of games."""
    names = []
    for name in BOTS:
        bot = version_store.admit(resolver.sample(name), data_folder.versions)
        content = version_store.content_hash(bot)
        names.append(versions.add_version(engine, name, "1", content, str(bot.folder), {}).id)
    for game, rules in GAMES.items():
        seats = min(rules.seats)
        # A match has a table for each seating, and four bots meet in at least four matches.
        cycles = max(1, games // (len(GAMES) * BOARDS * seats * 4))
        options = rules.settle({})
        plan = TournamentPlan(
            name=game,
            game=game,
            options=options,
            seats=seats,
            boards=BOARDS,
            settings={"cycles": cycles},
        )
        scheduler.begin(engine, plan, names, bytes(32))


def _sampled(
    engine: Engine, serve: "subprocess.Popen[str]", games: int, until: float
) -> dict[str, list[Sample]]:
    assert serve.stdout is not None
    announced, _ = json.JSONDecoder().raw_decode(_document(serve.stdout))
    processes = {"serve": serve.pid}
    processes |= {each["name"]: each["pid"] for each in announced["processes"] if each["pid"]}
    samples: dict[str, list[Sample]] = {name: [] for name in processes}
    open_matches = True
    while open_matches and (_played(engine) < games or time.monotonic() < until):
        played = _played(engine)
        for name, pid in processes.items():
            if (size := megabytes(pid)) is not None:
                samples[name].append((played, size))
        time.sleep(_SAMPLE_SECONDS)
        open_matches = _is_open(engine)
    return {name: values for name, values in samples.items() if values}


def _document(lines: Iterator[str]) -> str:
    """Return the first JSON document of some lines."""
    text = ""
    for line in lines:
        text += line
        if line.rstrip() == "}" or (line.startswith("{") and line.rstrip().endswith("}")):
            break
    return text


def megabytes(pid: int) -> float | None:
    """Return the memory of a process that it shares with no other one, in MB; None if it ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return None
    lines = (line.split() for line in text.splitlines())
    private = ("Private_Clean:", "Private_Dirty:")
    return sum(int(words[1]) for words in lines if words[0] in private) / 1024


def _played(engine: Engine) -> int:
    with database.reading(engine) as connection:
        query = select(func.count()).select_from(schema.games)
        return int(connection.execute(query).scalar_one())


def _is_open(engine: Engine) -> bool:
    query = select(schema.matches.c.id).where(schema.matches.c.state.in_(schema.OPEN)).limit(1)
    with database.reading(engine) as connection:
        return connection.execute(query).first() is not None


def main() -> int:
    """Measure once and print the figures; the status is 1 if a target is missed."""
    parser = argparse.ArgumentParser(description="Memory of each process of serve.")
    parser.add_argument("--games", type=at_least(100), default=GAMES_PLAYED)
    parser.add_argument("--minutes", type=float, default=0.0, help="least time")
    arguments = parser.parse_args()
    missed = False
    for name, samples in _measured(arguments.games, arguments.minutes).items():
        for figure in _figures(name, [samples]):
            print(figure_text(figure), flush=True)
            missed = missed or figure.reached is False
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
