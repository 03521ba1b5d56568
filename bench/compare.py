"""Compare the benchmark of two commits.

    uv run python -m bench compare HEAD~1 HEAD rules --rounds 6

Each commit is checked out in a temporary folder with an environment of its own. The rounds of both
commits alternate, so that a change in the load of the machine affects both.

The verdict is a sign test on the ratios of the rounds: the smallest and the largest of n ratios
contain the median ratio with probability 1 - 2^(1 - n), which is 97 % for 6 rounds (W. Conover,
Practical Nonparametric Statistics, 3rd edition, section 3.2). A figure has changed if this interval
does not contain 1.
"""

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.figure import number

ROUNDS_FOR_VERDICT = 6
"""Smallest number of rounds at which the interval contains the median in 95 % of all cases."""
ROOT = Path(__file__).parents[1]

Name = tuple[str, str]
"""A part of the benchmark, and the name of a figure."""


class CompareError(Exception):
    """The commits cannot be compared. The message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The values of one figure in both commits, by round.

    Attributes:
        part: part of the benchmark.
        name: name of the figure.
        unit: unit of the values.
        before: values of the first commit.
        after: values of the second commit.
    """

    part: str
    name: str
    unit: str
    before: Sequence[float]
    after: Sequence[float]

    @property
    def ratios(self) -> list[float]:
        """The second commit's values divided by those of the first, by round."""
        return [after / before for before, after in zip(self.before, self.after, strict=True)]

    @property
    def verdict(self) -> str:
        """Whether the figure changed: "changed", "within noise" or "too few rounds"."""
        if len(self.ratios) < ROUNDS_FOR_VERDICT:
            return "too few rounds"
        is_one_sided = min(self.ratios) > 1 or max(self.ratios) < 1
        return "changed" if is_one_sided else "within noise"

    def line(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        ratios = self.ratios
        return {
            "part": self.part,
            "name": self.name,
            "unit": self.unit,
            "before": list(self.before),
            "after": list(self.after),
            "ratio": statistics.median(ratios),
            "interval": [min(ratios), max(ratios)],
            "verdict": self.verdict,
        }

    def text(self) -> str:
        """Return the comparison as user-facing text."""
        ratios = self.ratios
        before, after = statistics.median(self.before), statistics.median(self.after)
        return (
            f"{self.part}: {self.name}: {number(before)} -> {number(after)} {self.unit}, "
            f"{statistics.median(ratios):.2f} x ({min(ratios):.2f} to {max(ratios):.2f}): "
            f"{self.verdict}"
        )


@contextlib.contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """Check out a commit in a temporary folder, and install its packages there.

    Raises:
        CompareError: the commit is unknown, or its packages cannot be installed.
    """
    with tempfile.TemporaryDirectory(prefix="bench-compare-") as folder:
        tree = Path(folder) / "tree"
        add = ["git", "-C", str(ROOT), "worktree", "add", "--detach", "--quiet", str(tree)]
        _run([*add, f"{revision}^{{commit}}"], f"cannot check out {revision}")
        try:
            install = ["uv", "sync", "--quiet", "--project", str(tree)]
            _run(install, f"cannot install the packages of {revision}")
            yield tree
        finally:
            remove = ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)]
            subprocess.run(remove, check=False, capture_output=True)


def _run(command: Sequence[str], problem: str) -> None:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CompareError(f"{problem}: the program {command[0]} is not installed") from None
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["unknown reason"])[-1]
        raise CompareError(f"{problem}: {reason}")


def measure(tree: Path, parts: Sequence[str]) -> dict[Name, tuple[str, float]]:
    """Measure one round in a checkout; return unit and value of each figure.

    Figures that cannot be measured are omitted.
    """
    request = {"parts": list(parts), "rounds": 1, "json": True, "history": False}
    result = subprocess.run(
        [str(tree / ".venv/bin/python"), "-m", "bench.session", json.dumps(request)],
        cwd=tree,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return {
        (line["part"], line["name"]): (line["unit"], line["median"])
        for line in lines
        if line.get("median")
    }


def compare(first: Path, second: Path, parts: Sequence[str], rounds: int) -> list[Comparison]:
    """Measure two checkouts in alternating order.

    Args:
        first: checkout of the first commit.
        second: checkout of the second commit.
        parts: parts of the benchmark.
        rounds: number of rounds.

    Returns:
        The figures that both commits have in every round.
    """
    measured: dict[Path, list[Mapping[Name, tuple[str, float]]]] = {first: [], second: []}
    for turn in range(rounds):
        for tree in (first, second)[:: 1 if turn % 2 == 0 else -1]:
            measured[tree].append(measure(tree, parts))
        print(f"round {turn + 1} of {rounds} is complete", file=sys.stderr, flush=True)
    common = set.intersection(*(set(row) for rows in measured.values() for row in rows))
    return [
        Comparison(
            part,
            name,
            unit,
            [row[part, name][1] for row in measured[first]],
            [row[part, name][1] for row in measured[second]],
        )
        for (part, name), (unit, _) in measured[first][0].items()
        if (part, name) in common
    ]


def run(revisions: tuple[str, str], parts: Sequence[str], rounds: int, as_json: bool) -> None:
    """Compare two commits and print a line per figure.

    Raises:
        CompareError: a commit cannot be checked out or installed.
    """
    before, after = revisions
    with checkout(before) as first, checkout(after) as second:
        comparisons = compare(first, second, parts, rounds)
    for comparison in comparisons:
        print(json.dumps(comparison.line()) if as_json else comparison.text())
    if not as_json:
        changed = sum(comparison.verdict == "changed" for comparison in comparisons)
        print(f"{changed} of {len(comparisons)} figures changed from {before} to {after}.")
