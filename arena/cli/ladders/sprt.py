"""The command `pokearena sprt`: expected length of an SPRT, and its probability of passing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import rich_click as click

from arena.cli import output
from arena.cli.errors import usage_error
from arena.cli.options import json_option, sprt_options

if TYPE_CHECKING:
    from arena.ratings.sprt import Model, SprtSettings
    from arena.ratings.sprt_length import SprtLength, SprtUnit


@click.command(epilog="Example: pokearena sprt --low 0 --high 10 --draws 20 --elo 5")
@click.option("--low", type=float, default=0.0, show_default=True, help="The lower bound.")
@click.option("--high", type=float, default=25.0, show_default=True, help="The upper bound.")
@sprt_options
@click.option(
    "--elo",
    "elos",
    type=float,
    multiple=True,
    help="A true difference in Elo points; repeatable. [default: seven around the bounds]",
)
@click.option(
    "--draws",
    type=click.FloatRange(0, 99),
    metavar="PERCENT",
    default=0.0,
    show_default=True,
    help="Share of drawn games.",
)
@click.option(
    "--saving",
    type=click.FloatRange(0.01, 100),
    default=1.0,
    show_default=True,
    help="How many times fewer games mirrored boards take for the same precision.",
)
@json_option
def sprt(
    low: float,
    high: float,
    alpha: float,
    beta: float,
    model: str,
    elos: tuple[float, ...],
    draws: float,
    saving: float,
    as_json: bool,
) -> None:
    """Compute the length of an SPRT, and its probability of passing.

    For each true difference the command prints the probability of the verdict HIGH, and the
    expected number of mirrored boards (two games each). docs/how-to/compare.md explains how to
    choose the bounds.
    """
    from arena.ratings.sprt import SprtSettings
    from arena.ratings.sprt_length import length, mirrored_board

    try:
        test = SprtSettings(low, high, alpha, beta, cast("Model", model))
    except ValueError as error:
        raise usage_error(f"{error}.", "invalid-sprt") from None
    unit = mirrored_board(draws / 100, saving)
    lines = [length(test, unit, elo) for elo in elos or _around(test, unit)]
    if as_json:
        output.document(
            {
                "low": low,
                "high": high,
                "alpha": alpha,
                "beta": beta,
                "model": model,
                "bounds": list(test.bounds),
                "draws_percent": draws,
                "saving": saving,
                "lines": [_values(line) for line in lines],
            }
        )
        return
    _print_lines(test, lines)
    output.next_step(
        f"pokearena tournament run GAME BOT BOT --format sprt --set low={low:g} --set high={high:g}"
    )


def _print_lines(test: SprtSettings, lines: Sequence[SprtLength]) -> None:
    output.table(
        ("Elo", "normalized", "passes", "boards", "games"),
        [
            (
                f"{line.elo:+z.1f}",
                f"{line.normalized:+z.1f}",
                f"{line.upper_probability:.1%}",
                f"{math.ceil(line.units)}",
                f"{2 * math.ceil(line.units)}",
            )
            for line in lines
        ],
    )
    lower, upper = test.bounds
    output.hint(
        f"bounds of the log-likelihood ratio: {lower:.2f} and {upper:.2f}; numbers of boards are "
        "means; a test that is close to the middle of its bounds can take three times as many"
    )


def _around(test: SprtSettings, unit: SprtUnit) -> list[float]:
    from arena.ratings.sprt_length import elo_of

    width = test.high - test.low
    return [elo_of(test, unit, test.low + width * step / 4) for step in (-2, 0, 1, 2, 3, 4, 6)]


def _values(line: SprtLength) -> dict[str, float]:
    return {
        "elo": line.elo,
        "normalized": line.normalized,
        "passes": line.upper_probability,
        "boards": line.units,
        "games": 2 * line.units,
    }
