"""Measure the cost of the sandbox at the start of a bot and for each decision.

    uv run python -m bench.sandbox

Each round goes through all levels that this machine offers, so that compared values are measured
within the same seconds. Start: from the start request until the bot's socket accepts connections (a
Python bot of the kit). Decision: a game of Poke against itself, one question at a time, at a table
of two.
"""

import statistics
import time

from arena.bots import resolver
from arena.bots.processes import Processes
from arena.bots.sandbox.available_levels import offer
from arena.bots.sandbox.level import Level
from arena.bots.socket_probe import listens
from bench.processes import started
from bench.table import table

ROUNDS = 7
BOARDS = 20
BOT = "meek"
LOOK = 0.002
"""Seconds between two checks whether a bot listens."""


def start(level: Level) -> float:
    """Return the seconds until a bot listens, with a sandbox launcher that already runs."""
    with Processes(level=level) as processes:
        began = time.perf_counter()
        address = processes.start(0, resolver.sample(BOT))
        while not listens(address):
            time.sleep(LOOK)
        return time.perf_counter() - began


def decision(level: Level, referee: str) -> float:
    """Return the seconds per decision at a table whose bots run at a level, after their start."""
    bot = resolver.sample(BOT)
    with Processes(level=level) as processes:
        addresses = [processes.start(seat, bot) for seat in (0, 1)]
        played = table(referee, addresses, BOARDS)
        return played.seconds / played.decisions


def print_levels(what: str, taken: dict[Level, list[float]], unit: float, name: str) -> None:
    """Print the medians of each level, and their ratios to no sandbox within a round."""
    free = taken[Level.UNSANDBOXED]
    for level, seconds in taken.items():
        ratios = [
            with_sandbox / without for with_sandbox, without in zip(seconds, free, strict=True)
        ]
        print(
            f"{what}, {level}: {statistics.median(seconds) * unit:.0f} {name}; "
            f"{statistics.median(ratios):.2f} x unsandboxed "
            f"({min(ratios):.2f} to {max(ratios):.2f})"
        )


def main() -> None:
    """Print the figures."""
    levels = [level for level in Level if offer(level).holds]
    starts: dict[Level, list[float]] = {level: [] for level in levels}
    games: dict[Level, list[float]] = {level: [] for level in levels}
    with started(["-m", "referee"]) as (referee,):
        for _ in range(ROUNDS):
            for level in levels:
                starts[level].append(start(level))
                games[level].append(decision(level, referee))
    print_levels("start of a bot", starts, 1e3, "ms")
    print_levels("a decision", games, 1e6, "us")


if __name__ == "__main__":
    main()
