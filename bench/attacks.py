"""Measure decision times of honest bots at another table during an attack.

    uv run python -m bench attacks
    uv run python -m bench.attacks settings_flood fork_bomb

There are two referees, as with two workers. One repeatedly serves a match between an honest bot and
the hostile program. The other serves matches of two honest bots, whose decision times are taken
from their records.

In the same round, an ordinary busy bot that computes for 20 ms per decision replaces the hostile
program. It uses one core, or both if the attack used more than one and a half. Its matches are
short too, so that bots are started about as often.

The figure is the 95th percentile of the honest bots' decision times. It should be at most twice
that beside the busy bot, and no honest bot may exceed its time.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.bots.sandbox import linux
from arena.bots.sandbox.available_levels import best_level
from arena.bots.sandbox.level import Level
from bench.figure import Figure, FigureTarget, figure_text
from tests.hostile.corpus import CONTAINED, FAULTS
from tests.hostile.hostile_environment import HostileEnvironment, started_world

SECONDS = 3.0
SAMPLE_SECONDS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
RATIO = 2.0
CORES_OF_TWO = 1.5
"""An attack that uses more cores than this is compared with a busy bot on two cores."""


@dataclass(frozen=True, slots=True)
class Honest:
    """Results of the honest bots at the other table."""

    milliseconds: Sequence[float]
    """The times of all decisions, sorted."""
    faults: int
    cores: float
    """Processor time of the attack, its opponent and its referee, per second."""
    verdict: str
    """The first verdict of the attacker other than "finished"."""

    def quantile(self, share: float) -> float:
        """Return the time within which a share of the decisions was made."""
        return self.milliseconds[min(int(share * len(self.milliseconds)), len(self) - 1)]

    def __len__(self) -> int:
        return len(self.milliseconds)


def figures(rounds: int) -> Iterator[Figure]:
    """Yield a figure for each program of the hostile corpus.

    Args:
        rounds: number of measurements of each program, alternating with the busy bot.
    """
    level = best_level()
    yield from measured(
        [each.name for each in (*FAULTS, *CONTAINED) if level in each.levels], rounds
    )


def measured(programs: Sequence[str], rounds: int) -> Iterator[Figure]:
    """Yield a figure for each of these programs."""
    for program in programs:
        attacked, calm = [], []
        for _ in range(rounds):
            attacked.append(beside(program))
            is_wide = attacked[-1].cores > CORES_OF_TWO
            calm.append(beside("busy_on_two_cores" if is_wide else "busy"))
        last, faults = attacked[-1], sum(batch.faults for batch in attacked)
        yield Figure(
            f"p95 of a decision beside {program}",
            "ms",
            [batch.quantile(0.95) for batch in attacked],
            "beside a busy bot",
            [batch.quantile(0.95) for batch in calm],
            FigureTarget(RATIO, at_most=True, of_ratio=True),
            f"median {last.quantile(0.5):.1f} ms, {len(last)} decisions, honest faults: {faults}; "
            f"the attack used {last.cores:.1f} cores and got {last.verdict}",
        )


def beside(program: str) -> Honest:
    """Play honest matches for SECONDS while another process runs a program as the attacker."""
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        folder = Path(name)
        # Bots with other user ids read their files there.
        folder.chmod(0o755)
        (folder / "a").mkdir()
        (folder / "h").mkdir()
        with (
            subprocess.Popen(
                [sys.executable, "-m", "bench.attacks", "--attack", program, str(folder / "a")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            ) as attack,
            started_world(folder / "h") as world,
        ):
            assert attack.stdout is not None
            assert attack.stdin is not None
            attack.stdout.readline()
            times, faults = _honest(world)
            attack.stdin.close()
            ended = json.loads(attack.stdout.readline())
            # The referee is killed too; bots and their launcher exit when they detect it.
            os.killpg(attack.pid, signal.SIGKILL)
    return Honest(sorted(times), faults, ended["cores"], ended["verdict"])


def _honest(world: HostileEnvironment) -> tuple[list[float], int]:
    times: list[float] = []
    faults = 0
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        outcome = world.play(world.bot("honest_bot"), best_level())
        for game in outcome.games:
            faults += sum(game.faults)
            for text in game.record.splitlines():
                line = json.loads(text)
                if line["type"] == "action" and line.get("by") != "referee":
                    times.append(line["ms"])
    return times, faults


def attack(program: str, folder: Path) -> None:
    """Let a program play repeatedly until this process is killed.

    Prints "ready". When standard input ends, prints the cores used and the first verdict other than
    "finished".
    """
    used: dict[tuple[int, str], float] = {}
    verdicts = ["finished"]
    threading.Thread(target=_report_at_end, args=(used, verdicts), daemon=True).start()
    threading.Thread(target=_sample, args=(used,), daemon=True).start()
    level: Level = best_level()
    with started_world(folder) as world:
        print("ready", flush=True)
        while True:
            outcome = world.play(world.bot(program), level).verdicts(1)
            verdicts += [verdict for verdict in outcome if verdict != "finished"]


def _report_at_end(used: dict[tuple[int, str], float], verdicts: Sequence[str]) -> None:
    began = time.monotonic()
    sys.stdin.read()
    cores = sum(used.copy().values()) / (time.monotonic() - began)
    print(json.dumps({"cores": cores, "verdict": verdicts[:2][-1]}), flush=True)


def _sample(used: dict[tuple[int, str], float]) -> None:
    """Record the processor seconds of each descendant process, by pid and start time.

    Waiting for children does not count the time of those that are killed with their sandbox. So
    they are sampled while they run; a process that lives for less than SAMPLE_SECONDS may be
    missed.
    """
    while True:
        for pid in linux.descendants(os.getpid()):
            with contextlib.suppress(OSError, ValueError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                used[pid, fields[19]] = (int(fields[11]) + int(fields[12])) / _TICKS
        time.sleep(SAMPLE_SECONDS)


def main(words: Sequence[str]) -> None:
    """Measure the named programs once, or run one as the attacker."""
    if words[:1] == ["--attack"]:
        attack(words[1], Path(words[2]))
        return
    for figure in measured(words, 1) if words else figures(1):
        print(figure_text(figure), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
