"""The commands `pokearena ladder`: recompute ladders from records, or compare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK, CommandError
from arena.cli.options import data_option, json_option, scope_options

if TYPE_CHECKING:
    from arena.cli.ladders.rebuilt_ladder import Anew


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
    from arena.cli.workspace import Place

    place = Place(data)
    assert place.existing_store is not None
    found = [
        rebuilt_ladder.verify(place.store, one) for one in key_lookup.meant(place, game, tournament)
    ]
    differences = [said for one in found for said in one.differences]
    if as_json:
        told = {one.scope.form: one.to_json() for one in found}
        output.document({"verified": not differences, "ladders": told})
        return FAILED if differences else OK
    if differences:
        more = f"; {len(differences) - 1} more" if len(differences) > 1 else ""
        words = f" {game}" if game else f" --tournament {tournament}" if tournament else ""
        raise CommandError(f"{differences[0]}{more}.", FAILED, f"pokearena ladder rebuild{words}")
    for one in found:
        output.line(
            f"{one.scope.form}: {one.matches} matches, {one.games} games; results and ladder are "
            "those of the records"
        )
    if not found:
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
    from arena.cli.workspace import Place
    from arena.ladders import ladder_values

    place = Place(data)
    assert place.existing_store is not None
    scopes = key_lookup.meant(place, game, tournament)
    found = [rebuilt_ladder.rebuild(place.store, one, write=True) for one in scopes]
    played = [one for one in found if one.table.lines]
    if as_json:
        fresh = {one.scope.form: ladder_values.to_json(one.table) for one in played}
        told = {one.scope.form: one.to_json() for one in found}
        output.document({"ladders": fresh, "elo": ladder_values.settings_json(), "rebuilt": told})
    else:
        for one in played:
            output.heading(one.scope.form)
            views.show(one.table)
            output.line()
            for said in one.differences:
                output.complain(f"{said}.")
            output.hint(f"made anew from {one.games} records of {one.matches} matches{_was(one)}")
        if not played:
            output.hint("no match is closed yet")
        output.next_step("pokearena standings")
    return FAILED if any(one.unread for one in found) else OK


def _was(one: Anew) -> str:
    told = "; nothing was stored otherwise" if not one.differences else "; it is put right"
    if one.unread:
        told = "; what cannot be read is left as it is"
    return told + (f"; {one.missing} had not been summed up yet" if one.missing else "")
