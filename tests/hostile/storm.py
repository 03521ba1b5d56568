"""Play honest matches while the whole hostile corpus plays in other matches.

    uv run --no-sync python -m tests.hostile.storm --seconds 120
    uv run --no-sync python -m tests.hostile.storm --programs fork_bomb kernel_surfaces

As with two workers, there are two referees in two processes. One serves the corpus, one program
after another and without a pause. The other serves matches of two honest bots, whose decision times
are taken from their records. For comparison, bots that keep both cores busy replace the corpus.

The script prints MISSED and exits with 1 if an honest bot was charged with a fault, or if the 95th
percentile of the honest decision times is more than twice that beside the busy bots.
"""

import argparse
import contextlib
import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.bots.sandbox.available_levels import best_level
from tests.guarded_process import GuardedProcess
from tests.hostile.corpus import CONTAINED, FAULTS
from tests.hostile.hostile_environment import HostileEnvironment, started_world

RATIO: Final = 2.0
QUANTILE: Final = 0.95
BUSY: Final = ("busy_on_two_cores",)
HURT_LONG: Final = frozenset({"hangs", "never_connects"})
"""Programs that only wait, which would shorten the time of the others."""


@dataclass(frozen=True)
class Batch:
    """Honest decisions beside a load.

    Attributes:
        milliseconds: the times of all decisions, sorted.
        faults: how often an honest bot was charged with a fault.
        programs: how many matches the load played meanwhile.
    """

    milliseconds: Sequence[float]
    faults: int
    programs: int

    @property
    def slow(self) -> float:
        """The 95th percentile of the times."""
        last = len(self.milliseconds) - 1
        return self.milliseconds[min(int(QUANTILE * len(self.milliseconds)), last)]


def corpus() -> list[str]:
    """Return the names of the programs that run at the best level, in the order of the corpus."""
    level = best_level()
    return [
        program.name
        for program in (*FAULTS, *CONTAINED)
        if level in program.levels and program.name not in HURT_LONG
    ]


def beside(programs: Sequence[str], seconds: float) -> Batch:
    times: list[float] = []
    faults = 0
    with tempfile.TemporaryDirectory(prefix="storm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for part in ("load", "honest"):
            (folder / part).mkdir()
        with _load(programs, folder / "load") as load, started_world(folder / "honest") as world:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                more, charged = _honest_match(world)
                times += more
                faults += charged
            played = _count(load)
    return Batch(sorted(times), faults, played)


@contextmanager
def _load(programs: Sequence[str], folder: Path) -> "Iterator[subprocess.Popen[str]]":
    with GuardedProcess(
        [sys.executable, "-m", "tests.hostile.storm", "--load", str(folder), *programs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as load:
        assert load.stdout is not None
        try:
            load.stdout.readline()
            yield load
        finally:
            # Its referee is killed too; bots and their launcher exit when they detect it.
            os.killpg(load.pid, signal.SIGKILL)


def _count(load: "subprocess.Popen[str]") -> int:
    assert load.stdout is not None
    os.set_blocking(load.stdout.fileno(), False)
    with contextlib.suppress(BlockingIOError):
        return os.read(load.stdout.fileno(), 1 << 16).count(b"\n")
    return 0


def _honest_match(world: HostileEnvironment) -> tuple[list[float], int]:
    """Play a match of two honest bots; return the times of its decisions, and its faults."""
    times: list[float] = []
    outcome = world.play(world.bot("honest_bot"), best_level())
    for game in outcome.games:
        for text in game.record.splitlines():
            line = json.loads(text)
            if line["type"] == "action" and line.get("by") != "referee":
                times.append(line["ms"])
    return times, sum(sum(game.faults) for game in outcome.games)


def play_for_ever(programs: Sequence[str], folder: Path) -> None:
    """Play the programs in turn until this process is killed; print a line before each match."""
    level = best_level()
    with started_world(folder) as world:
        for name in itertools.cycle(programs):
            print(name, flush=True)
            world.play(world.bot(name), level)


def main() -> None:
    """Print the figures; exit with 1 if they miss the target."""
    parser = argparse.ArgumentParser(description="Honest matches beside the hostile corpus.")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each of the two loads")
    parser.add_argument("--programs", nargs="*", help="default: the whole corpus")
    parser.add_argument("--load", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        play_for_ever(options.load[1:], Path(options.load[0]))
        return
    logging.disable(logging.WARNING)
    attacked = beside(options.programs or corpus(), options.seconds)
    busy = beside(BUSY, options.seconds)
    for load, batch in (("hostile corpus", attacked), ("busy bots", busy)):
        print(
            f"beside the {load}: p95 {batch.slow:.2f} ms, {len(batch.milliseconds)} decisions, "
            f"{batch.faults} honest faults, {batch.programs} matches of the load"
        )
    ratio = attacked.slow / busy.slow
    is_missed = attacked.faults > 0 or ratio > RATIO
    print(f"ratio {ratio:.2f}, at most {RATIO}{': MISSED' if is_missed else ''}")
    sys.exit(1 if is_missed else 0)


if __name__ == "__main__":
    main()
