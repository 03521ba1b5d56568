"""Measure the CPU time of commands that only print: help, ladders, the list of tournaments.

    uv run python -m bench commands

The data folder contains one played round robin of Poke with 12 matches.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from arena.bots import resolver
from bench import house_bot_tournament
from bench.figure import Figure, FigureTarget

POKEARENA = Path(sys.executable).with_name("pokearena")
TARGETS = {"--help": 0.12, "standings": 0.35, "tournament list": 0.35}
"""Seconds of CPU time, user and system, on the machine of 2026-11-23."""
MATCHES = 12


def cpu_seconds(words: list[str], data: Path) -> float:
    """Return the CPU seconds of one command, with its start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [POKEARENA, *words],
        env={**os.environ, "POKEARENA_DATA": str(data)},
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the CPU time of each command, after one run that stores the bytecode."""
    with house_bot_tournament.store() as (engine, data_folder):
        bots = dict.fromkeys(("one", "two"), resolver.sample("meek"))
        tournament = house_bot_tournament.schedule(
            engine, data_folder, bots, boards=1, cycles=MATCHES
        )
        house_bot_tournament.played(engine, data_folder, tournament, 2)
        for command, target in TARGETS.items():
            words = command.split()
            cpu_seconds(words, data_folder.root)
            taken = [cpu_seconds(words, data_folder.root) for _ in range(rounds + 2)]
            yield Figure(f"`{command}`", "s CPU", taken, target=FigureTarget(target, at_most=True))
