"""Run `python -m bench`: every figure, with its peer from the same run.

    uv run python -m bench
    uv run python -m bench rules queue --rounds 3 --json

Prints each figure as soon as it is measured: the median of the rounds, the median absolute
deviation (+-), the minimum and the maximum. Below it, prints the peer, measured in turns with it,
and the median of the ratios by round. Only the ratios are comparable between days and machines.
Each run appends a line to bench/history.jsonl.
"""

import json
import os
import platform
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from arena.config import ANALYSIS
from bench import compare
from bench.figure import Figure, Part, figure_text, left_out
from referee.rules_build import rules_build

_USAGE = 2
HISTORY = Path(__file__).parent / "history.jsonl"
PARTS = {
    "decisions": "a decision, compared with raw gRPC and text over TCP; 1 to 128 games in flight",
    "starts": "a table with newly started bots; the time that a worker adds to a match",
    "commands": "CPU time of commands that only print",
    "queue": "the job queue, compared with RQ alone",
    "workers": "matches per second with 1, 2 and 4 workers, compared with the ideal",
    "model_tables": "ten tables of bots that wait for each answer, compared with one",
    "rules": "random play by the rules alone, in every form",
    "ladder": "1,000 bots and 100,000 matches: rating, pages, delay; the fit of 10,000 bots",
    "memory": "growth of each process of serve while matches of all games are played",
    "attacks": "honest bots at another table while each hostile program plays",
    "work_budget": "CPU time per unit of the work budget, for each kind of input",
}
LONG = ("ladder", "memory", "attacks")
"""The parts that take up to 15 minutes per round."""
USUAL = [part for part in PARTS if part not in LONG]
"""The parts of a run that names none."""


def measured(part: str) -> Part:
    """Return the part with this name. Imported on demand, because some imports are slow."""
    figures: Part = import_module(f"bench.{part}").figures
    return figures


def processor() -> str:
    """Return the model of the processor, or an empty text if the system does not state it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def circumstances() -> dict[str, Any]:
    """Return the time, commit, load and versions that affect the figures."""
    commit = subprocess.run(
        ["git", "-C", str(HISTORY.parent), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "machine": platform.machine(),
        "processor": processor(),
        "python": platform.python_version(),
        "build": rules_build(),
        "grpcio": version("grpcio"),
        "protobuf": version("protobuf"),
    }


def run(parts: Sequence[str], rounds: int, as_json: bool) -> tuple[list[dict[str, Any]], bool]:
    """Measure these parts and print their figures.

    A failed part is reported in its place, and the remaining parts are still measured.

    Returns:
        The lines of the history, and whether all parts succeeded.
    """
    lines, whole = [], True
    for part in parts:
        if not as_json:
            print(f"\n{part}: {PARTS[part]}", flush=True)
        try:
            for figure in measured(part)(rounds):
                lines.append({"part": part, **figure.line()})
                _show(figure, as_json, lines[-1])
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            whole = False
            figure = left_out(f"the rest of {part}", f"{type(error).__name__}: {error}")
            lines.append({"part": part, **figure.line()})
            _show(figure, as_json, lines[-1])
    return lines, whole


def _show(figure: Figure, as_json: bool, line: dict[str, Any]) -> None:
    print(json.dumps(line) if as_json else figure_text(figure), flush=True)


def _compare(revisions: Sequence[str], parts: Sequence[str], rounds: int, as_json: bool) -> int:
    before, after = revisions
    try:
        compare.run((before, after), parts, rounds, as_json)
    except compare.CompareError as error:
        print(f"error  {error}.", file=sys.stderr)
        return 1
    return 0


def measure(request: Mapping[str, Any]) -> int:
    """Measure what the command requests, append the results to the history; return its status."""
    # Analyses by idle workers would take processor time from what is measured.
    os.environ[ANALYSIS] = "0"
    revisions = request.get("compare")
    parts, rounds, as_json = request["parts"] or USUAL, request["rounds"], request["json"]
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        known = ", ".join(PARTS)
        print(f"error  unknown part {unknown[0]!r}; the parts are {known}.", file=sys.stderr)
        return _USAGE
    if revisions:
        return _compare(revisions, parts, rounds, as_json)
    around = circumstances()
    if not as_json:
        print(" ".join(f"{name} {value};" for name, value in around.items()))
    results, whole = run(parts, rounds, as_json)
    if request["history"]:
        with HISTORY.open("a", encoding="utf-8") as history:
            history.write(json.dumps({**around, "rounds": rounds, "figures": results}) + "\n")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(measure(json.loads(sys.argv[1])))
