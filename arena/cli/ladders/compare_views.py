"""Compare two versions in the store and print the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from arena.cli import output
from arena.cli.errors import FAILED, CommandError, usage_error
from arena.ladders.ladder_key import LadderKey
from arena.store.match_settings import game_of_ladder

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.head_to_head import LadderComparison
    from arena.ratings.control_variates import AdjustedMean
    from arena.ratings.sprt import SprtSettings
    from arena.records.luck_adjustment.adjusted_comparison import AdjustedComparison


def test_of(
    bounds: tuple[float, float] | None, alpha: float, beta: float, model: str
) -> SprtSettings | None:
    """Return the requested test, if any."""
    from arena.ratings.sprt import Model, SprtSettings

    if bounds is None:
        return None
    try:
        return SprtSettings(*bounds, alpha=alpha, beta=beta, model=cast("Model", model))
    except ValueError as error:
        raise usage_error(f"{error}.", "invalid-sprt") from None


def compare(
    engine: Engine,
    scopes: Sequence[LadderKey],
    pair: tuple[str, str],
    unit: str | None,
    test: SprtSettings | None,
    name: str | None = None,
) -> LadderComparison:
    """Compare two versions on the only one of these ladders on which they have met.

    `name` is the ladder that is meant if they have met on several; without `unit`, the usual unit
    counts.
    """
    from arena.ladders import head_to_head

    first, second = pair
    if first == second:
        raise usage_error(f"choose two different versions; both are {first}.", "same-version")
    met_on = [scope for scope in scopes if head_to_head.have_met(engine, scope, pair)]
    if not met_on:
        raise CommandError(
            f"{first} and {second} have not played against each other in this arena.",
            FAILED,
            "pokearena matrix",
            code="never-met",
        )
    met_on = [scope for scope in met_on if scope.name == name] or met_on
    if len(met_on) > 1:
        forms = ", ".join(scope.name for scope in met_on)
        raise usage_error(
            f"{first} and {second} have played on several ladders; add one of {forms}.",
            "several-forms",
        )
    try:
        return head_to_head.compare_stored(engine, met_on[0], pair, unit, test)
    except head_to_head.UnequalMatches as error:
        raise usage_error(f"{error}; choose one with --tournament ID.", "uneven") from None
    except head_to_head.NoBoards as error:
        raise usage_error(f"{error}; use --by match.", "no-boards") from None


def adjust(
    engine: Engine, scopes: Sequence[LadderKey], result: LadderComparison, pair: tuple[str, str]
) -> AdjustedComparison:
    """Return the luck-adjusted results of the matches that a comparison counts."""
    from arena.records.analysis.engine import NoEngine
    from arena.records.luck_adjustment.adjusted_comparison import compare_adjusted

    scope = next(scope for scope in scopes if scope.name == result.form)
    try:
        with output.long_operation("adjusts results for luck") as report:
            return compare_adjusted(
                engine, scope, pair, lambda share: report(f"{100 * share:.0f} %")
            )
    except NoEngine as error:
        raise CommandError(f"{error}.", FAILED, code=error.code) from None
    except ValueError as error:
        raise CommandError(f"{error}.", FAILED, code="few-boards") from None


def show_adjusted(luck: AdjustedComparison) -> None:
    """Print luck-adjusted results."""
    output.line(f"{'adjusted':<14}{_adjusted(luck.result.score, 100, ' %')}")
    if luck.result.points:
        output.line(f"{'':<14}{_adjusted(luck.result.points, 1, ' points a board')}")
    output.hint(
        f"adjusted: without the luck of the cards, by playouts of {luck.engine}, counted by "
        f"{luck.result.boards} boards; raw results decide ranks"
    )


def _adjusted(mean: AdjustedMean, scale: int, unit: str) -> str:
    value, low, high = (scale * each for each in (mean.value, mean.low, mean.high))
    return (
        f"{value:.2f}{unit} ({low:.2f} to {high:.2f}), raw {scale * mean.raw:.2f}{unit}; "
        f"saves a factor of {mean.saved:.2f}"
    )


def show(result: LadderComparison) -> None:
    """Print a comparison."""
    from arena.ladders.comparison_facts import comparison_facts

    comparison = result.comparison
    output.heading(f"{result.form} · {comparison.first} against {comparison.second}")
    for name, text in comparison_facts(comparison):
        output.line(f"{name:<14}{text}")
    output.hint(
        f"counted by {comparison.unit}; 95 % intervals in brackets; LOS: likelihood that "
        f"{comparison.first} is stronger; SPRT Elo: corrected for the stop of the test "
        "(docs/explanation/ratings.md)"
    )


def go_on(result: LadderComparison, pair: tuple[str, str]) -> tuple[str, ...]:
    """Return the command that continues until a test decides; none for larger tables."""
    if result.comparison.pairs is None:
        return ()
    test = result.comparison.test.settings if result.comparison.test else None
    bounds = f" --set low={test.low:g} --set high={test.high:g}" if test else ""
    game = game_of_ladder(result.form)
    return (f"pokearena tournament run {game} {pair[0]} {pair[1]} --format sprt{bounds}",)
