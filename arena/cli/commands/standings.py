"""`pokearena standings`: the ladder of every form of every game."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.options import data_option, json_option

if TYPE_CHECKING:
    from arena.cli.ladder import Ladders
    from arena.cli.place import Place

_GLANCE_SECONDS = 1.0


@click.command(epilog="Example: pokearena standings poke --watch")
@click.argument("game", required=False)
@click.option("--tournament", metavar="ID", help="Only the matches of this tournament.")
@click.option("--watch", is_flag=True, help="Show it again whenever it changes, until Ctrl-C.")
@json_option
@data_option
def standings(
    game: str | None, tournament: str | None, watch: bool, as_json: bool, data: Path | None
) -> None:
    """The ladders, of all games or of one: Elo, results, faults.

    A game has a ladder for every number of seats and setting of its options: a form, such as
    pouku-3. GAME may name one.

    With --json one document, with --watch one a line.
    """
    from arena.cli import ladder
    from arena.cli.place import Place

    place = Place(data)
    assert place.existing_store is not None
    found = _ladders(place, game, tournament)
    _show(found, as_json)
    while watch:
        time.sleep(_GLANCE_SECONDS)
        fresh = _ladders(place, game, tournament)
        if fresh != found:
            found = fresh
            if output.is_terminal() and not as_json:
                output.screen().clear()
            _show(found, as_json)
    if not as_json:
        output.hint(ladder.settings_words())
        output.next_step("pokearena tournament list")


def _ladders(place: Place, name: str | None, tournament: str | None) -> Ladders:
    """The ladders of a game, a form of one, or a tournament; of everything without a name."""
    from arena.cli import ladder, lookup
    from arena.store import tournaments

    if tournament is not None:
        found = tournaments.find(place.store, lookup.tournament(place, tournament))
        return {found.plan.form: ladder.of_tournament(place.store, found.id, found.entrants)}
    if name is None:
        return ladder.of_forms(place.store)
    return ladder.of_forms(place.store, name) or ladder.of_forms(place.store, _game(name))


def _game(name: str) -> str:
    # The rules of the games are not needed for a ladder of all of them.
    from arena.cli import setup

    return setup.game_named(name).id


def _show(ladders: Ladders, as_json: bool) -> None:
    from arena.cli import ladder

    if as_json:
        tables = {form: ladder.to_json(table) for form, table in ladders.items()}
        output.document({"ladders": tables, "elo": ladder.settings_json()})
        return
    if not ladders:
        output.hint("no match is closed yet")
    for number, (form, table) in enumerate(ladders.items()):
        if number:
            output.line()
        output.heading(form)
        output.table(ladder.HEADINGS, ladder.rows(table))
