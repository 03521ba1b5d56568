"""The commands `pokearena ladder`: recompute ladders from records, or compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, OK, CommandError
from arena.cli.options import data_option, json_option, scope_options
from arena.cli.workspace import Workspace
from referee.games.game_packages import EXAMPLE_GAME

if TYPE_CHECKING:
    from arena.cli.ladders.rebuilt_ladder import RebuiltLadder


@click.group()
def ladder() -> None:
    """Check ladders against the records of their matches, rebuild them, or begin a new season."""


@ladder.command(epilog=f"Example: pokearena ladder verify {EXAMPLE_GAME}")
@scope_options
@json_option
@data_option
def verify(game: str | None, tournament: str | None, as_json: bool, workspace: Workspace) -> int:
    """Check that stored results and ladders follow exactly from the records.

    All results of each match, and each ladder, are computed again from the records and compared.
    Nothing is changed. `pokearena verify` checks the records themselves.
    """
    from arena.cli import lookup
    from arena.cli.ladders import rebuilt_ladder

    checks = [
        rebuilt_ladder.verify(workspace.store, scope)
        for scope in lookup.scopes_of(workspace, game, tournament, archives=True)
    ]
    differences = [difference for check in checks for difference in check.differences]
    if as_json:
        values = {check.scope.label: check.to_json() for check in checks}
        output.document({"verified": not differences, "ladders": values})
        return FAILED if differences else OK
    if differences:
        more = f"; {len(differences) - 1} more" if len(differences) > 1 else ""
        words = f" {game}" if game else f" --tournament {tournament}" if tournament else ""
        raise CommandError(f"{differences[0]}{more}.", FAILED, f"pokearena ladder rebuild{words}")
    for check in checks:
        output.line(
            f"{check.scope.label}: {check.matches} matches, {check.games} games; results and "
            "ladder match the records"
        )
    if not checks:
        output.hint("no match is closed yet")
    output.next_step("pokearena standings")
    return OK


@ladder.command(epilog=f"Example: pokearena ladder rebuild {EXAMPLE_GAME}")
@scope_options
@json_option
@data_option
def rebuild(game: str | None, tournament: str | None, as_json: bool, workspace: Workspace) -> int:
    """Compute results and ladders again from the records, and correct differences.

    Differences are printed. A match with an unreadable record is left unchanged. The stored luck of
    the matches is deleted; idle workers measure it again.
    """
    from arena.cli import lookup
    from arena.cli.ladders import ladder_table, rebuilt_ladder
    from arena.ladders import ladder_columns, ladder_values

    scopes = lookup.scopes_of(workspace, game, tournament, archives=True)
    rebuilt = [rebuilt_ladder.rebuild(workspace.store, scope) for scope in scopes]
    played = [(ladder, table) for ladder, table in rebuilt if table.lines]
    if as_json:
        fresh = {ladder.scope.label: ladder_columns.results(table) for ladder, table in played}
        values = {ladder.scope.label: ladder.to_json() for ladder, _ in rebuilt}
        output.document({"ladders": fresh, "elo": ladder_values.settings_json(), "rebuilt": values})
    else:
        for ladder, table in played:
            output.heading(ladder.scope.label)
            ladder_table.show(table)
            output.line()
            for difference in ladder.differences:
                output.complain(f"{difference}.")
            computed = f"computed from {ladder.games} records of {ladder.matches} matches"
            output.hint(f"{computed}{_outcome(ladder)}")
        if not played:
            output.hint("no match is closed yet")
        output.next_step("pokearena standings")
    return FAILED if any(ladder.unread for ladder, _ in rebuilt) else OK


@ladder.command(
    "new-season", epilog=f'Example: pokearena ladder new-season {EXAMPLE_GAME} --name "Spring"'
)
@click.argument("form", metavar="FORM", shell_complete=completers.forms)
@click.option(
    "--name",
    default="",
    metavar="TEXT",
    help="Name of the new ladder. [default: the form and the season]",
)
@json_option
@data_option
def new_season(form: str, name: str, as_json: bool, workspace: Workspace) -> None:
    """Begin a new season of a form: close its ladder and start ratings anew.

    FORM is for example GAME or GAME-4. The open ladder of the form is cancelled, its pending
    matches too; running matches are finished. A new open ladder begins with the same settings and
    bots. The earlier season stays readable: `pokearena standings FORM --season N`, and on the pages
    of the ladder.
    """
    from arena.cli.services.serve import ladder_of
    from arena.store.tournaments import tournaments
    from arena.submissions import open_ladders
    from arena.tournaments import json_values

    tournament = open_ladders.begin_season(workspace.existing_store, ladder_of(form, "FORM"), name)
    season = int(tournament.plan.settings["season"])
    progress = tournaments.progress(workspace.store, tournament.id)
    earlier = f" --season {season - 1}" if season > 1 else ""
    output.result(
        as_json,
        {"season": season, **json_values.tournament(tournament, progress)},
        f"season {season} of {tournament.plan.ladder} begins with {tournament.id}",
        then=f"pokearena standings {tournament.plan.ladder}{earlier}",
    )


def _outcome(ladder: RebuiltLadder) -> str:
    text = "; no differences" if not ladder.differences else "; differences corrected"
    if ladder.unread:
        text = "; unreadable matches are unchanged"
    return text + (
        f"; {ladder.missing} results were missing and are added" if ladder.missing else ""
    )
