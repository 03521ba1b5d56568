"""`pokearena matrix`: who did how against whom."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli import output
from arena.cli.options import data_option, json_option, scope_options


@click.command(epilog="Example: pokearena matrix poke --los")
@scope_options
@click.option(
    "--los", is_flag=True, help="How likely one bot is stronger than the other, by all matches."
)
@json_option
@data_option
def matrix(
    game: str | None, tournament: str | None, los: bool, as_json: bool, data: Path | None
) -> None:
    """Who did how against whom: the score of every two bots, its interval, their matches.

    GAME may name a form, such as pouku-3. The scores are of the matches of these two alone; --los
    (likelihood of superiority) follows from strength, which is fitted to all matches.
    """
    from arena import matrices
    from arena.cli import ladder, matrix_views, scope
    from arena.cli.place import Place

    place = Place(data)
    assert place.existing_store is not None
    scopes = scope.meant(place, game, tournament)
    made = {one.form: matrices.of_scope(place.store, one) for one in scopes}
    found = {form: one for form, one in made.items() if one is not None}
    if as_json:
        output.document({"matrices": {form: one.to_json() for form, one in found.items()}})
        return
    if not found:
        output.hint("no match is closed yet")
    for number, (form, one) in enumerate(found.items()):
        if number:
            output.line()
        output.heading(form)
        matrix_views.show(one, los)
        ladder.remark_gifts(one.gifts)
    if found:
        matrix_views.explain(los)
    words = f" {game}" if game else f" --tournament {tournament}" if tournament else ""
    output.next_step(f"pokearena standings{words}" if los else f"pokearena matrix{words} --los")
