"""Run the benchmark: `uv run python -m bench` in a checkout."""

from __future__ import annotations

import sys

import rich_click as click

from bench import session

ROUNDS = 2
"""Default number of rounds: all parts take less than ten minutes on two quiet cores."""
COMPARE_ROUNDS = 6
"""Default number of rounds of a comparison, the smallest that allows a verdict."""


@click.command(epilog="Example: python -m bench rules queue --rounds 3")
@click.argument("parts", nargs=-1, metavar="[PART]... | compare COMMIT COMMIT [PART]...")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    help=f"Number of rounds. [default: {ROUNDS}; compare: {COMPARE_ROUNDS}]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per figure.")
@click.option("--no-history", is_flag=True, help="Do not append the run to bench/history.jsonl.")
def bench(parts: tuple[str, ...], rounds: int | None, as_json: bool, no_history: bool) -> None:
    """Measure the speed of each part, and compare it with peers in the same run.

    Parts: decisions, starts, commands, queue, workers, model_tables, rules, work_budget, ladder,
    memory and attacks. The default is all except the last three, which take up to 15 minutes per
    round.

    `compare A B` checks out two commits in temporary folders, measures them in alternating
    rounds, and prints for each figure the ratio of B to A and whether it changed beyond noise.
    """
    revisions, parts = _revisions(parts)
    arguments = {
        "compare": revisions,
        "parts": parts,
        "rounds": rounds or (COMPARE_ROUNDS if revisions else ROUNDS),
        "json": as_json,
        "history": not no_history,
    }
    sys.exit(session.measure(arguments))


def _revisions(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the arguments into the two commits to compare, if any, and the parts."""
    if words[:1] != ("compare",):
        return (), words
    if len(words) < 3:
        raise click.UsageError(
            "compare requires two commits, for example `python -m bench compare HEAD~1 HEAD rules`."
        )
    return words[1:3], words[3:]


if __name__ == "__main__":
    bench(prog_name="python -m bench")
