"""Measure whole games on one core: the referee and two Python bots together.

    uv run python -m bench games

All processes are pinned to one core, so that the rate is per core and can be multiplied by adding
workers (docs/explanation/capacity.md). 32 games of a table are in flight; the bots play at random.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from arena.presentation.registry import presentation_of
from bench.figure import Figure
from bench.processes import started
from bench.table import table
from referee.games.registry import GAMES

IN_FLIGHT = 32
SECONDS = 20
"""Estimated length of a round, which determines its number of boards."""


@contextmanager
def one_core() -> Iterator[None]:
    """Pin this process and its children to one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the games per second and core of each game."""
    bot = ["bot.py", "play", str(IN_FLIGHT)]
    for game, rules in GAMES.items():
        boards = round(SECONDS / presentation_of(game).seconds)
        seats = min(rules.seats)
        with one_core(), started(["-m", "referee"], *[bot] * seats) as (referee, *bots):
            table(referee, bots, boards // 4, game)
            rates, decisions = [], []
            for _ in range(rounds):
                played = table(referee, bots, boards, game)
                rates.append(played.games / played.seconds)
                decisions.append(played.decisions / played.seconds)
        middle = sorted(decisions)[len(decisions) // 2]
        note = f"{middle:,.0f} decisions a second and core"
        yield Figure(f"games of {game} for {seats}", "games a second and core", rates, note=note)
