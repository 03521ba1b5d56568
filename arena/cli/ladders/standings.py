"""The command `pokearena standings`: show the ladder of every form of every game."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import rich_click as click

from arena.cli import output
from arena.cli.errors import usage_error
from arena.cli.options import data_option, json_option, scope_options
from arena.cli.workspace import Workspace
from referee.games.game_packages import EXAMPLE_GAME

if TYPE_CHECKING:
    from arena.cli.ladders.ladder_table import Ladders
    from arena.ladders.ladder_key import LadderKey
    from arena.ladders.seat_advantage import SeatAdvantage
    from arena.records.luck_adjustment.adjusted_standings import AdjustedStandings

    SeatWorths = Mapping[str, Sequence[SeatAdvantage]]
    """What each seat is worth, by form."""
    AdjustedByForm = Mapping[str, AdjustedStandings]
    """Luck-adjusted results, by form."""

_POLL_SECONDS = 1.0


@click.command(epilog=f"Example: pokearena standings {EXAMPLE_GAME} --watch")
@scope_options
@click.option(
    "--anchor",
    "anchors",
    multiple=True,
    metavar="NAME@VERSION=STRENGTH[:DEVIATION]",
    help="Fix the strength of a bot, to compare ladders of different times; with a standard "
    "deviation, use it as a prior (loose anchor); repeatable.",
)
@click.option(
    "--season",
    type=click.IntRange(1),
    metavar="N",
    help="Show this season, also an archived one. [default: the current season]",
)
@click.option(
    "--los", is_flag=True, help="Add the likelihood of superiority to the bot of the next line."
)
@click.option(
    "--seats", is_flag=True, help="Add what each seat is worth, from matches in all seatings."
)
@click.option(
    "--adjusted",
    is_flag=True,
    help="Add luck-adjusted scores and points, from matches whose luck is measured.",
)
@click.option("--watch", is_flag=True, help="Print again after each change, until Ctrl-C.")
@click.option("--timing", is_flag=True, help="Add decision times to --json, in milliseconds.")
@json_option
@data_option
def standings(
    game: str | None,
    tournament: str | None,
    anchors: tuple[str, ...],
    season: int | None,
    los: bool,
    seats: bool,
    adjusted: bool,
    watch: bool,
    timing: bool,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Show the ladders of all games or of one.

    Each form of a game (number of seats and options, such as GAME-3) has its own ladder. GAME can
    be a game or a form. Bots whose difference is not significant share a range of ranks; ? marks a
    provisional strength. docs/explanation/ratings.md explains the columns.

    --json prints one document, with --watch one line per change. Equal tournaments give equal
    output; --timing adds the decision times, which vary, under "timing". --seats and --adjusted
    read the results of all games, so they take longer on large ladders. The luck of a match is
    measured by idle workers.
    """
    from arena.cli import lookup
    from arena.cli.ladders import ladder_table
    from arena.ratings.strength.settings import with_anchors

    try:
        settings = with_anchors(anchors)
    except ValueError as error:
        raise usage_error(f"--anchor: {error}.", "invalid-anchor") from None
    shown = _Shown(as_json, timing, los, seats, adjusted)

    def look() -> tuple[Sequence[LadderKey], Ladders]:
        scopes = lookup.scopes_of(workspace, game, tournament, season=season)
        return scopes, ladder_table.of_scopes(workspace.store, scopes, settings)

    scopes, ladders = look()
    _show(workspace, scopes, ladders, shown)
    while watch:
        # Flush, so that the reader of a pipe receives each document at once.
        sys.stdout.flush()
        time.sleep(_POLL_SECONDS)
        scopes, fresh = look()
        if fresh != ladders:
            ladders = fresh
            if output.is_terminal() and not as_json:
                output.screen().clear()
            _show(workspace, scopes, ladders, shown)
    if not as_json:
        if ladders:
            ladder_table.explain(ladders.values(), los, seats, adjusted)
        output.next_step("pokearena tournament list")


@dataclass(frozen=True, slots=True)
class _Shown:
    """Selection and form of the printed values."""

    as_json: bool
    timing: bool
    los: bool
    seats: bool
    adjusted: bool


def _show(
    workspace: Workspace, scopes: Sequence[LadderKey], ladders: Ladders, shown: _Shown
) -> None:
    present = [scope for scope in scopes if scope.name in ladders]
    worths = _seat_worths(workspace, present) if shown.seats else {}
    adjusted = _adjusted(workspace, present) if shown.adjusted else {}
    if shown.as_json:
        output.document(_document(workspace, present, ladders, worths, adjusted, shown))
    else:
        _print(ladders, worths, adjusted, shown)


def _seat_worths(workspace: Workspace, scopes: Sequence[LadderKey]) -> SeatWorths:
    from arena.ladders import seat_advantage

    return {scope.name: seat_advantage.of_ladder(workspace.store, scope) for scope in scopes}


def _adjusted(workspace: Workspace, scopes: Sequence[LadderKey]) -> AdjustedByForm:
    from arena.records.luck_adjustment import adjusted_standings

    return {scope.name: adjusted_standings.of_ladder(workspace.store, scope) for scope in scopes}


def _document(
    workspace: Workspace,
    scopes: Sequence[LadderKey],
    ladders: Ladders,
    worths: SeatWorths,
    adjusted: AdjustedByForm,
    shown: _Shown,
) -> dict[str, Any]:
    from arena.ladders import columns, ladder_columns, ladder_values, seat_advantage

    document: dict[str, Any] = {
        "ladders": {form: ladder_columns.results(table) for form, table in ladders.items()},
        "elo": ladder_values.settings_json(),
        "details": {
            scope.name: ladder_values.details_json(workspace.store, scope, ladders[scope.name])
            for scope in scopes
        },
    }
    if shown.seats:
        document["seats"] = {
            form: [columns.to_json(seat_advantage.SEATS, worth) for worth in seats]
            for form, seats in worths.items()
        }
    if shown.adjusted:
        document["adjusted"] = {form: table.to_json() for form, table in adjusted.items()}
    if shown.timing:
        times = {form: ladder_values.timing_json(table) for form, table in ladders.items()}
        document["timing"] = times
    return document


def _print(ladders: Ladders, worths: SeatWorths, adjusted: AdjustedByForm, shown: _Shown) -> None:
    from arena.cli.ladders import ladder_table
    from arena.ladders import columns, ladder_values
    from arena.ladders.seat_advantage import SEATS

    if not ladders:
        output.hint("no match is closed yet")
    for number, (form, table) in enumerate(ladders.items()):
        if number:
            output.line()
        output.heading(form)
        ladder_table.show(table, shown.los)
        if worths.get(form):
            output.line()
            output.table(*columns.text_table(SEATS, worths[form]))
        if form in adjusted:
            output.line()
            output.table(*columns.text_table(adjusted[form].columns, adjusted[form].lines))
            output.hint(adjusted[form].coverage)
        output.hint(*ladder_values.remarks(table))
