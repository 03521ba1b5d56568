"""The commands `pokearena ladder`: recompute ladders from records, or compare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK, CommandError
from arena.cli.options import data_option, json_option, scope_options

if TYPE_CHECKING:
    from arena.cli.ladders.rebuilt_ladder import RebuiltLadder


@click.group()
def ladder() -> None:
    """Make ladders anew from the records of their matches, or check that they are these."""


@ladder.command(epilog="Example: pokearena ladder verify poke")
@scope_options
@json_option
@data_option
def verify(game: str | None, tournament: str | None, as_json: bool, data: Path | None) -> int:
    """Check that results and ladders are those of the records, to every digit.

    Everything that is stored of a match but its record is made again from the record, and
    compared; so is the ladder. Nothing is changed. (Whether the records themselves are true,
    `pokearena verify` tells.)
    """
    from arena.cli.ladders import key_lookup, rebuilt_ladder
    from arena.cli.workspace import Workspace

    workspace = Workspace(data)
    assert workspace.existing_store is not None
    checks = [
        rebuilt_ladder.verify(workspace.store, scope)
        for scope in key_lookup.scopes_of(workspace, game, tournament)
    ]
    differences = [difference for check in checks for difference in check.differences]
    if as_json:
        values = {check.scope.form: check.to_json() for check in checks}
        output.document({"verified": not differences, "ladders": values})
        return FAILED if differences else OK
    if differences:
        more = f"; {len(differences) - 1} more" if len(differences) > 1 else ""
        words = f" {game}" if game else f" --tournament {tournament}" if tournament else ""
        raise CommandError(f"{differences[0]}{more}.", FAILED, f"pokearena ladder rebuild{words}")
    for check in checks:
        output.line(
            f"{check.scope.form}: {check.matches} matches, {check.games} games; results and "
            "ladder match the records"
        )
    if not checks:
        output.hint("no match is closed yet")
    output.next_step("pokearena standings")
    return OK


@ladder.command(epilog="Example: pokearena ladder rebuild poke")
@scope_options
@json_option
@data_option
def rebuild(game: str | None, tournament: str | None, as_json: bool, data: Path | None) -> int:
    """Make results and ladders anew from the records, and say what was stored otherwise.

    What differed is put right. A match of which a record cannot be read is left out of the ladder
    that is shown, and as it is in the store.
    """
    from arena.cli.ladders import key_lookup, rebuilt_ladder
    from arena.cli.ladders import ladder_table as views
    from arena.cli.workspace import Workspace
    from arena.ladders import ladder_values

    workspace = Workspace(data)
    assert workspace.existing_store is not None
    scopes = key_lookup.scopes_of(workspace, game, tournament)
    rebuilt = [rebuilt_ladder.rebuild(workspace.store, scope, write=True) for scope in scopes]
    played = [ladder for ladder in rebuilt if ladder.table.lines]
    if as_json:
        fresh = {ladder.scope.form: ladder_values.to_json(ladder.table) for ladder in played}
        values = {ladder.scope.form: ladder.to_json() for ladder in rebuilt}
        output.document({"ladders": fresh, "elo": ladder_values.settings_json(), "rebuilt": values})
    else:
        for ladder in played:
            output.heading(ladder.scope.form)
            views.show(ladder.table)
            output.line()
            for difference in ladder.differences:
                output.complain(f"{difference}.")
            output.hint(
                f"made anew from {ladder.games} records of {ladder.matches} matches{_was(ladder)}"
            )
        if not played:
            output.hint("no match is closed yet")
        output.next_step("pokearena standings")
    return FAILED if any(ladder.unread for ladder in rebuilt) else OK


def _was(ladder: RebuiltLadder) -> str:
    text = "; nothing was stored otherwise" if not ladder.differences else "; it is put right"
    if ladder.unread:
        text = "; what cannot be read is left as it is"
    return text + (f"; {ladder.missing} had not been summed up yet" if ladder.missing else "")
