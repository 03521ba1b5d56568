"""The command `pokearena bench`: run the benchmark of a checkout."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import rich_click as click

from arena.cli.errors import USAGE, CommandError


@click.command(epilog="Example: pokearena bench rules evaluator --rounds 3")
@click.argument("parts", nargs=-1, metavar="[PART]...")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Number of rounds."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per figure.")
@click.option("--no-history", is_flag=True, help="Do not append the run to bench/history.jsonl.")
def bench(parts: tuple[str, ...], rounds: int, as_json: bool, no_history: bool) -> None:
    """Measure the speed of each part, and compare it with peers in the same run.

    Parts: decisions, games, starts, commands, queue, workers, rules, peers, evaluator, ratings,
    work_budget and attacks. The default is all except attacks, which takes 15 minutes per
    round. The output names peers that are not installed; `uv run --group bench pokearena bench`
    installs all of them. The command requires a checkout.
    """
    root = Path(__file__).parents[3]
    if not (root / "bench" / "session.py").exists():
        raise CommandError(
            "the bench is not part of an installation: clone the repository, and run"
            " `uv run --group bench pokearena bench` there.",
            USAGE,
        )
    arguments = {"parts": parts, "rounds": rounds, "json": as_json, "history": not no_history}
    os.chdir(root)
    os.execv(sys.executable, [sys.executable, "-m", "bench.session", json.dumps(arguments)])
