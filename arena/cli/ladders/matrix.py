"""The command `pokearena matrix`: show the crosstable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.options import data_option, json_option, scope_options
from arena.cli.workspace import Workspace
from referee.games.game_packages import EXAMPLE_GAME

if TYPE_CHECKING:
    from arena.ladders.ladder_crosstable import LadderCrosstable


NOTHING = "·"
_SCORES = "score of the row against the column in %, 95 % interval, (matches); a draw is half a win"
_LIKELIHOODS = "likelihood that the bot of the row is stronger than that of the column, in %"


def show(matrix: LadderCrosstable, superiority: bool) -> None:
    """Print a crosstable of scores and matches, or of the likelihood of superiority."""
    names = matrix.table.entrants
    cells = _superiority(matrix) if superiority else _scores(matrix)
    rows = [(at, name, *row) for at, (name, row) in enumerate(zip(names, cells, strict=True), 1)]
    output.table(("#", "<bot", *map(str, range(1, len(names) + 1))), rows)


def _scores(matrix: LadderCrosstable) -> list[list[str]]:
    from arena.ladders.ladder_columns import cell_text

    return [[cell_text(cell) if cell else NOTHING for cell in row] for row in matrix.table.cells]


def _superiority(matrix: LadderCrosstable) -> list[list[str]]:
    places = range(len(matrix.table.entrants))
    likely = [matrix.strengths.gaps.superiorities(at) for at in places]
    return [
        [NOTHING if at == to else f"{100 * likely[at][to]:.1f}" for to in places] for at in places
    ]


@click.command(epilog=f"Example: pokearena matrix {EXAMPLE_GAME} --los")
@scope_options
@click.option(
    "--los",
    is_flag=True,
    help="Show the likelihood that one bot is stronger than the other, by all matches.",
)
@json_option
@data_option
def matrix(
    game: str | None, tournament: str | None, los: bool, as_json: bool, workspace: Workspace
) -> None:
    """Show the crosstable: score, interval and number of matches of each pair of bots.

    GAME can be a form, such as GAME-3. A score counts only the matches between the two bots. --los
    (likelihood of superiority) follows from the strengths, which are fitted to all matches.
    """
    from arena.cli import lookup
    from arena.ladders import ladder_values, rater
    from arena.ladders.ladder_crosstable import crosstable_of_ladder

    scopes = lookup.scopes_of(workspace, game, tournament)
    fitted = {scope: rater.current_fit(workspace.store, scope) for scope in scopes}
    crosstables = {
        scope.name: crosstable_of_ladder(workspace.store, scope, ladder)
        for scope, ladder in fitted.items()
        if ladder.table.lines
    }
    if as_json:
        output.document(
            {"matrices": {form: crosstable.to_json() for form, crosstable in crosstables.items()}}
        )
        return
    if not crosstables:
        output.hint("no match is closed yet")
    for number, (form, crosstable) in enumerate(crosstables.items()):
        if number:
            output.line()
        output.heading(form)
        show(crosstable, los)
        output.hint(*ladder_values.gift_remarks(crosstable.gifts))
    if crosstables:
        output.hint(_LIKELIHOODS if los else _SCORES)
    words = f" {game}" if game else f" --tournament {tournament}" if tournament else ""
    output.next_step(f"pokearena standings{words}" if los else f"pokearena matrix{words} --los")
