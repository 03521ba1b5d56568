"""What a table and a match cost besides playing.

    uv run python -m bench.starts

Start of a table: two cold Python bots, from their start as processes to the end of the first game
of one board. A worker's overhead: a whole match of two tables with one board each, less the time
in which bots are started and asked; measured as the match with bots that already run (by address).
"""

import statistics
import time
from collections.abc import Callable

from bench.decisions import table
from bench.processes import started


def seconds(action: Callable[[], object], rounds: int = 7) -> list[float]:
    """How long it takes, each time."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return taken


def cold_table(referee: str) -> None:
    """Starts two bots and plays one board."""
    bot = ["bot.py", "play", "1"]
    with started(bot, bot) as bots:
        table(referee, bots, 1)


def main() -> None:
    """Prints the figures."""
    with started(["-m", "referee"]) as (referee,):
        taken = seconds(lambda: cold_table(referee))
    middle = statistics.median(taken)
    verdict = "ok" if middle <= 1.0 else "MISSED"
    print(
        f"table of two cold Python bots, first game included: {middle:.2f} s "
        f"({min(taken):.2f} to {max(taken):.2f}); target 1: {verdict}"
    )


if __name__ == "__main__":
    main()
