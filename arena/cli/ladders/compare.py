"""The command `pokearena compare`: compare two versions."""

from __future__ import annotations

import rich_click as click

from arena.cli import completers, output
from arena.cli.options import data_option, json_option, scope_options, sprt_options
from arena.cli.workspace import Workspace


@click.command(epilog="Example: pokearena compare mybot@2 mybot@1 --sprt 0 25")
@click.argument("first", metavar="BOT", shell_complete=completers.versions)
@click.argument("second", metavar="BOT", shell_complete=completers.versions)
@scope_options
@click.option(
    "--sprt",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Run an SPRT: is the first bot better by HIGH points, or only by LOW?",
)
@sprt_options
@click.option(
    "--by",
    "unit",
    type=click.Choice(["board", "match"]),
    help="Unit of the comparison. [default: board if both seatings were played, else match]",
)
@click.option(
    "--adjusted",
    is_flag=True,
    help="Also print luck-adjusted results from the records; takes about half a second per board.",
)
@json_option
@data_option
def compare(
    first: str,
    second: str,
    game: str | None,
    tournament: str | None,
    sprt: tuple[float, float] | None,
    alpha: float,
    beta: float,
    model: str,
    unit: str | None,
    adjusted: bool,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Compare two bots by all their matches against each other.

    BOT is NAME@VERSION, or NAME for the newest version. GAME can be a form, such as GAME-3.

    The unit is a board played in both seatings (a pair of games), as in chess engine testing. Use
    --by match for bots that learn from board to board, and for tables with more than two bots.
    Choose the bounds of an SPRT before the first match; its first verdict is final.
    """
    from arena.cli import lookup
    from arena.cli.ladders import compare_views

    test = compare_views.test_of(sprt, alpha, beta, model)
    pair = (lookup.find_version(workspace, first).id, lookup.find_version(workspace, second).id)
    scopes = lookup.scopes_of(workspace, game, tournament)
    comparison = compare_views.compare(workspace.store, scopes, pair, unit, test, game)
    luck = compare_views.adjust(workspace.store, scopes, comparison, pair) if adjusted else None
    if as_json:
        output.document(comparison.to_json() | ({"adjusted": luck.to_json()} if luck else {}))
        return
    compare_views.show(comparison)
    if luck:
        compare_views.show_adjusted(luck)
    output.next_step(*compare_views.go_on(comparison, pair), f"pokearena matrix {comparison.form}")
