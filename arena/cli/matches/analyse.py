"""The command `pokearena analyse`: win expectations, costly decisions and luck of a match."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import CommandError
from arena.cli.options import data_option, json_option
from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from arena.cli.matches.record_lookup import RecordSource
    from arena.records.analysis.match_analysis import Estimate, MatchAnalysis

_BARS: Final = "▁▂▃▄▅▆▇█"
_WIDTH: Final = 60
_SHOWN_GAMES: Final = 20
_MOST_QUALITY: Final = 1_000


@click.command(epilog="Example: pokearena analyse last --quality 3")
@click.argument("match", metavar="MATCH", shell_complete=completers.match_or_file)
@click.option(
    "--quality",
    type=click.IntRange(1, _MOST_QUALITY),
    default=1,
    show_default=True,
    help="Factor of the number of playouts; with strong, 1 takes at most 20 s of CPU time.",
)
@click.option(
    "--engine",
    "engine_name",
    type=click.Choice(["strong", "champion"]),
    default="strong",
    show_default=True,
    help="House bot whose choices are compared; champion searches up to five times as long.",
)
@json_option
@data_option
def analyse(
    match: str, quality: int, engine_name: str, as_json: bool, workspace: Workspace
) -> None:
    """Analyse the play of a match: costly decisions, accuracy and luck.

    Compares every decision with the choice of a house bot from what the seat knew. All figures are
    win expectations from playouts. A decision is called a mistake only if its loss is larger than
    three standard errors. MATCH is an id, the beginning of an id, the file of a record, or `last`
    for the newest match of `pokearena play`. The analysis is printed and not stored: match pages
    show those that idle workers make. Times are CPU times.
    """
    from arena.cli.matches import record_lookup
    from arena.records.analysis import summary
    from arena.records.analysis.engine import NoEngine, named_engine
    from arena.records.analysis.match_analysis import NotAnalysable
    from arena.records.analysis.match_analysis import analyse as analyse_record

    source = record_lookup.find_record(workspace, match)
    try:
        with output.long_operation(f"analyses {source.id}") as report:
            header = source.record.match
            analysis = analyse_record(
                source.record,
                quality,
                named_engine(engine_name, header["game"], header["seats"]),
                progress=lambda share: report(f"{100 * share:.0f} %"),
            )
    except (NoEngine, NotAnalysable) as error:
        raise CommandError(f"{source.id} cannot be analysed: {error}.", code=error.code) from error
    if as_json:
        output.document(summary.to_json(analysis, source.record))
        return
    _show(source, analysis)
    worst = analysis.costliest(1)
    game = f" --game {worst[0].game}" if worst else ""
    output.next_step(f"pokearena replay {shlex.quote(match)}{game}")


def _show(source: RecordSource, analysis: MatchAnalysis) -> None:
    from arena.records.analysis import summary

    skipped = f", {analysis.skipped} not analysed" if analysis.skipped else ""
    output.line(
        f"{analysis.match}: {analysis.game}, {len(analysis.decisions)} decisions{skipped}; engine "
        f"{analysis.engine} {analysis.engine_version}, {analysis.playouts} playouts"
    )
    output.line()
    luck = summary.luck_by_bot(analysis, source.record)
    output.table(
        (
            "bot",
            "<phase",
            "decisions",
            "mistakes",
            "mean loss",
            "accuracy %",
            "95 % interval",
            "luck",
        ),
        [
            (
                *(row.bot, row.phase, row.decisions, row.mistakes),
                *(f"{row.loss.mean:.4f} ± {row.loss.error:.4f}", f"{row.accuracy:.1f}"),
                f"{row.interval[0]:.1f} to {row.interval[1]:.1f}",
                _signed(luck[row.bot]) if row.phase == summary.ALL else "",
            )
            for row in summary.accuracies(analysis)
        ],
    )
    output.line()
    _show_games(source, summary.expectations_of_games(analysis))
    _show_costliest(analysis)


def _show_games(source: RecordSource, expectations: dict[int, list[float]]) -> None:
    output.line("win expectation of seat 0 by position")
    for number, values in list(expectations.items())[:_SHOWN_GAMES]:
        bot = source.game(number).game["seating"][0]
        output.line(f"  game {number + 1:<3} {sparkline(values)}  {bot}")
    if len(expectations) > _SHOWN_GAMES:
        output.line(f"  ({len(expectations) - _SHOWN_GAMES} more games; --json prints all)")
    output.line()


def _show_costliest(analysis: MatchAnalysis) -> None:
    from referee.action_phrases import describe

    costliest = analysis.costliest()
    if not costliest:
        output.line("no decision with a loss beyond noise")
        return
    output.line("costliest decisions, in win expectation")
    output.table(
        ("<question", "<bot", "<played", "<engine's choice", "before", "after", "loss"),
        [
            (
                *(f"{analysis.match}:{each.game}:{each.decision}", each.bot),
                *(describe(each.played), describe(each.choice)),
                *(f"{each.before:.2f}", f"{each.after:.2f}"),
                f"{each.loss.mean:.2f} ± {each.loss.error:.2f}",
            )
            for each in costliest
        ],
    )


def _signed(value: Estimate) -> str:
    return f"{value.mean:+z.2f} ± {value.error:.2f}"


def sparkline(values: Sequence[float]) -> str:
    """Draw values from 0 to 1 as bars, at most 60 of them."""
    shown = min(len(values), _WIDTH)
    picked = [values[at * (len(values) - 1) // max(1, shown - 1)] for at in range(shown)]
    return "".join(_BARS[min(len(_BARS) - 1, int(value * len(_BARS)))] for value in picked)
