"""Measure matches per second with one, two and four workers, compared with linear scaling.

    uv run python -m bench workers

Uses real services: Redis, referee, store, sandboxes. Each round plays the same tournament once with
each number of workers, alternately. The ideal is the rate of one worker times the smaller of the
numbers of workers and cores. A match of two Python bots and a referee sometimes uses more than one
core, so one worker alone may already use more than one core.
"""

from collections.abc import Iterator

from arena.system.process_info import cores
from bench import house_bot_tournament
from bench.figure import Figure

WORKERS = (1, 2, 4)
CYCLES = 8
BOARDS = 10
BOTS = ("meek", "bold")


def matches_a_second(workers: int) -> float:
    """Return the rate from the end of the first match to the end of the last one."""
    with house_bot_tournament.store() as (engine, data_folder):
        bots = {name: name for name in BOTS}
        scheduled = house_bot_tournament.schedule(
            engine, data_folder, bots, boards=BOARDS, cycles=CYCLES
        )
        ends = house_bot_tournament.played(engine, data_folder, scheduled, workers)
    # Exclude matches that ran in parallel with the first: they began before the measurement.
    late = ends[min(workers, len(ends) - 1) :]
    return len(late) / (late[-1] - ends[0])


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the rate for each number of workers, compared with the ideal."""
    rates: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    for _ in range(rounds):
        for workers in WORKERS:
            rates[workers].append(matches_a_second(workers))
    for workers, speeds in rates.items():
        name = f"matches of {BOARDS} boards of poke with {workers} worker{'s' * (workers > 1)}"
        if workers == 1:
            yield Figure(name, "matches a second", speeds)
            continue
        times = min(workers, cores())
        ideal = [times * rate for rate in rates[1]]
        yield Figure(name, "matches a second", speeds, f"{times} times that of one", ideal)
