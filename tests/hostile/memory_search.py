"""Search for memory between tables: what a bot can read that another bot has changed before.

    uv run --no-sync python -m tests.hostile.memory_search --minutes 60 --level bubblewrap
    uv run --no-sync python -m tests.hostile.memory_search --minutes 1 --level landlock --json

A reader bot stores every number that it can read: files of /proc, /sys, /dev and /etc, metadata of
the files that it may read, and results of system calls (`programs/memory_reader.py`). A writer bot
does one kind of thing as strongly as it can (`programs/memory_writer.py`). Each runs in a sandbox
of its own, one after another, as at two tables.

A value is memory if it changes in the same direction after a writer with the amount 1 and after one
with the amount 2, more with the larger amount, and by more than NOISE times its largest change
between readers without a writer: with nothing between them, and with a bot that sleeps. Every
reader starts after the writer has ended. A finding is confirmed by a second round.

The exit status is 1 if a value is found that is not in REMAINING.
"""

import argparse
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from arena.bots.exit_report import Limits
from arena.bots.processes import Processes
from arena.bots.sandbox.available_levels import has_disk
from arena.bots.sandbox.level import Level
from tests.hostile.corpus import PROGRAMS
from tests.hostile.sandboxed_run import offered_levels, selected, untrusted
from tests.waiting import wait_until

Values = Mapping[str, int | str]
NOISE: Final = 4.0
"""A change counts if it is this many times the largest change without a writer."""
GROWTH: Final = 1.3
"""A change by the amount 2 is at least this many times that by the amount 1."""
SLEEPER: Final = "nothing"
ALL: Final = "all"
TIME: Final = "time of the reader"
CONTROLS: Final = 4
"""Pairs of readers without a writer before the first writer."""
READING_SECONDS: Final = 6.0
"""Limit of the time in which a reader reads files."""


@dataclass(frozen=True)
class Remaining:
    """A value that is known to be memory, or to be moved by other processes of the machine.

    Attributes:
        values: a regular expression of its names.
        reason: why it remains.
        levels: where it remains.
        has_view: whether it remains for a bot with its own view of the file system.
    """

    values: str
    reason: str
    levels: tuple[Level, ...] = tuple(Level)
    has_view: bool = True

    def holds(self, level: Level) -> bool:
        return level in self.levels and (self.has_view or not has_disk(level))


REMAINING: Final = (
    Remaining(
        r"(fdinfo of a fresh|inode of a fresh|(smallest|largest) inode of a) .*",
        "the kernel numbers pipes, sockets and files in memory for the whole machine",
    ),
    Remaining(
        r"(smallest|largest) cookie of a .*",
        "the kernel numbers sockets for the whole machine",
    ),
    Remaining(
        r"(statfs .*|sysinfo.*|load.*|seconds in ms)",
        "the free space of the disk, the free memory and the load of the machine can be queried",
    ),
    Remaining(
        r"/proc/(stat|meminfo|uptime|loadavg) .*",
        "without a view of the file system, runtimes read these files of the machine",
        (Level.LANDLOCK,),
        has_view=False,
    ),
    Remaining(
        r"(pid|parent|group|session|pid of a child|/proc/self/stat .*|/proc/self/status .*)",
        "without a namespace of processes, their ids are those of the machine",
        (Level.LANDLOCK,),
    ),
)
"""What is known to remain; docs/explanation/containment.md lists it."""


@dataclass(frozen=True)
class Finding:
    """A value that a writer has changed.

    Attributes:
        source: the name of the value.
        writer: the kind of the writer.
        noise: its largest change between readers without a writer.
        effect: its changes by the amounts 1 and 2, of each round.
        known: why it remains; empty if it is not known to.
    """

    source: str
    writer: str
    noise: int
    effect: tuple[int, ...]
    known: str


class Search:
    """Runs readers and writers at one level.

    Args:
        level: the level of the sandbox.
        folder: a folder for the bots that every user can enter.
        seconds: how long a reader reads files.
    """

    def __init__(self, level: Level, folder: Path, seconds: float) -> None:
        self.level = level
        self.seconds = seconds
        self.noise: dict[str, int] = defaultdict(int)
        """The largest change of each number without a writer."""
        self.rate: dict[str, float] = defaultdict(float)
        """The same per second: clocks change more while a writer takes longer."""
        self.unstable: set[str] = set()
        """Names of texts that changed without a writer, and of values that were not always read."""
        self.texts: set[str] = set()
        """Names of the other texts."""
        self.reader = _bot(folder / "reader", "memory_reader.py")
        self.writer = _bot(folder / "writer", "memory_writer.py")
        self.complaints: set[str] = set()

    def read(self) -> Values:
        found: dict[str, int | str] = {TIME: str(time.monotonic())}

        def take(address: str) -> None:
            nonlocal found
            found = json.loads(Path(address).with_name("found.json").read_text())
            found |= {TIME: str(time.monotonic())}

        self._run(self.reader, [str(self.seconds)], take)
        return found

    def write(self, kind: str, amount: int) -> None:
        self._run(self.writer, [kind, str(amount)], lambda address: None)

    def _run(self, folder: Path, words: Sequence[str], take: Callable[[str], None]) -> None:
        with (
            selected(self.level),
            Processes(limits=Limits(), level=self.level) as processes,
        ):
            address = processes.start(0, untrusted(folder, ("python", "-I", "bot.py", *words)))

            def is_done() -> bool:
                report = processes.report(0)
                return bool(report.ended) or "done" in report.output.split()

            wait_until(is_done)
            report = processes.report(0)
            self.complaints.update(
                line for line in report.output.splitlines() if " ended with " in line
            )
            if "done" not in report.output.split():
                # A search without all of its programs would find less and prove nothing.
                raise RuntimeError(f"{' '.join(words)} {report.ended}: {report.output[-300:]}")
            take(address.removeprefix("unix:"))
            processes.stop(0)

    def calibrate(self) -> Values:
        """Run the control groups; return the values of the last reader."""
        before = self.read()
        for kind in itertools.islice(itertools.cycle(["", SLEEPER, ""]), CONTROLS):
            if kind:
                self.write(kind, 2)
            after = self.read()
            self.learn(before, after)
            before = after
        return before

    def learn(self, before: Values, after: Values) -> None:
        """Store the changes between two readers without a writer as noise."""
        self.unstable |= before.keys() ^ after.keys()
        seconds = _seconds(before, after)
        for name, old in before.items():
            new = after.get(name)
            if isinstance(old, int) and isinstance(new, int):
                self.noise[name] = max(self.noise[name], abs(new - old))
                self.rate[name] = max(self.rate[name], abs(new - old) / seconds)
            elif old != new:
                self.unstable.add(name)
            else:
                self.texts.add(name)

    def examine(self, kind: str) -> list[Finding]:
        """Return the values that a writer changes, confirmed by a second round."""
        first = self.round(kind)
        if not first:
            return []
        before = self.read()
        self.write(SLEEPER, 2)
        self.learn(before, self.read())
        second = self.round(kind)
        return [
            Finding(
                name,
                kind,
                self.noise[name],
                (*first[name], *second[name]),
                known(name, self.level),
            )
            for name in sorted(first.keys() & second.keys())
            if name not in self.unstable
            and self._stands_out(name, *first[name])
            and self._stands_out(name, *second[name])
        ]

    def round(self, kind: str) -> dict[str, tuple[int, int]]:
        """Run a writer with two amounts; return the changes of the values that stand out.

        The readers start after the writer has ended, and the last one after another sandbox. A
        change that they see has therefore persisted.
        """
        before = self.read()
        self.write(kind, 1)
        middle = self.read()
        self.write(kind, 2)
        after, last = self.read(), self.read()
        common = before.keys() & middle.keys() & after.keys() & last.keys()
        changes = {}
        for name in sorted(common - self.unstable):
            one = _change(before[name], middle[name])
            two = _change(middle[name], after[name])
            rest = _change(before[name], last[name])
            seconds = _seconds(before, middle), _seconds(middle, after)
            if self._stands_out(name, one, two, seconds) and abs(rest) * 2 > abs(one + two):
                changes[name] = (one, two)
        return changes

    def _stands_out(
        self, name: str, one: int, two: int, seconds: tuple[float, float] = (0.0, 0.0)
    ) -> bool:
        """Return whether two changes are too large for noise and grow with the amount."""
        if name in self.texts:
            return bool(one and two)
        is_larger = abs(two) >= GROWTH * abs(one) > 0
        return (
            is_larger
            and one * two > 0
            and all(
                abs(change) > NOISE * max(self.noise[name], self.rate[name] * elapsed)
                for change, elapsed in zip((one, two), seconds, strict=True)
            )
        )


def _seconds(before: Values, after: Values) -> float:
    times = [float(values[TIME]) for values in (before, after)]
    return max(times[1] - times[0], 0.001)


def _change(old: int | str, new: int | str) -> int:
    """Return the change of a number; of texts 1 if they differ."""
    if isinstance(old, int) and isinstance(new, int):
        return new - old
    return int(old != new)


def known(name: str, level: Level) -> str:
    """Return why a value is known to remain at a level; empty if it is not known to."""
    return next(
        (
            each.reason
            for each in REMAINING
            if each.holds(level) and re.fullmatch(each.values, name)
        ),
        "",
    )


def _bot(folder: Path, program: str) -> Path:
    folder.mkdir()
    folder.chmod(0o755)
    shutil.copyfile(PROGRAMS / program, folder / "bot.py")
    return folder


@contextmanager
def started(level: Level, seconds: float = READING_SECONDS) -> Iterator[Search]:
    """Create the bots of a search in a folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="memory-") as name:
        os.chmod(name, 0o755)
        yield Search(level, Path(name), seconds)


def search(
    level: Level,
    minutes: float,
    kinds: Iterable[str] = (),
    report: Callable[[Sequence[Finding]], None] = lambda findings: None,
) -> list[Finding]:
    """Search for the given time, but run every kind of writer at least once if it is not limited.

    Args:
        level: the level of the sandbox.
        minutes: the time after which no further writer starts.
        kinds: the kinds of writers in their order; by default all at once, then each.
        report: called with the findings of each writer.
    """
    until = time.monotonic() + 60 * minutes
    findings: list[Finding] = []
    with started(level) as found:
        found.calibrate()
        for kind in itertools.cycle(list(kinds) or [ALL, *writers()]):
            if time.monotonic() > until:
                break
            new = found.examine(kind)
            report(new)
            findings += new
        for complaint in sorted(found.complaints):
            print(complaint, file=sys.stderr)
    return findings


def writers() -> list[str]:
    text = (PROGRAMS / "memory_writer.py").read_text()
    block = text[text.index("KINDS:") :]
    return re.findall(r"^        (\w+),$", block, re.MULTILINE)


def row(finding: Finding) -> str:
    effect = ", ".join(f"{change:+}" for change in finding.effect)
    return (
        f"| {finding.source} | {finding.writer} | {finding.noise} | {effect} | "
        f"{finding.known or 'NOT KNOWN'} |"
    )


def main() -> None:
    """Search as the arguments require and exit with 1 if a value is not known to remain."""
    parser = argparse.ArgumentParser(description="Search for memory between tables.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--level", type=Level, choices=list(Level), default=None)
    parser.add_argument("--writer", action="append", default=[], help="one kind of writer")
    parser.add_argument("--json", action="store_true", help="print findings as lines of JSON")
    options = parser.parse_args()
    levels = [options.level] if options.level else offered_levels()

    def show(findings: Sequence[Finding]) -> None:
        for finding in findings:
            text = json.dumps(asdict(finding)) if options.json else row(finding)
            print(text, flush=True)

    if not options.json:
        print("| value | writer | control noise | effect of 1 and 2, twice | known reason |")
        print("|---|---|---|---|---|")
    findings = [
        finding
        for level in levels
        for finding in search(level, options.minutes / len(levels), options.writer, show)
    ]
    sys.exit(1 if any(not finding.known for finding in findings) else 0)


if __name__ == "__main__":
    main()
