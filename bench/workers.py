"""Matches a second with one, two and four workers, beside as many times what one does.

    uv run python -m bench workers

Real services: Redis, referee, store, sandboxes. Each round plays the same tournament once with each
number of workers, by turns. The ideal is the rate of one worker times the workers, or times the
cores if these are fewer; a match of two Python bots and a referee keeps more than one core busy at
times, so one worker alone may have more than one core's worth already.
"""

from collections.abc import Iterator

from arena.system.process_info import cores
from bench import cup
from bench.figure import Figure

WORKERS = (1, 2, 4)
CYCLES = 8
BOARDS = 10
BOTS = ("meek", "bold")


def matches_a_second(workers: int) -> float:
    """From the end of the first match to the end of the last one."""
    with cup.store() as (engine, where):
        bots = {name: name for name in BOTS}
        scheduled = cup.schedule(engine, where, bots, boards=BOARDS, cycles=CYCLES)
        ends = cup.played(engine, where, scheduled, workers)
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
