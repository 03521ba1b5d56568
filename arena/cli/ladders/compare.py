"""The command `pokearena compare`: compare two versions."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from arena.cli import output
from arena.cli.options import data_option, json_option, scope_options


@click.command(epilog="Example: pokearena compare mybot@2 mybot@1 --sprt 0 25")
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@scope_options
@click.option(
    "--sprt",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Test whether the first is HIGH points better, or only LOW.",
)
@click.option(
    "--alpha",
    type=float,
    default=0.05,
    show_default=True,
    help="How often the test may say HIGH though LOW is true.",
)
@click.option(
    "--beta",
    type=float,
    default=0.05,
    show_default=True,
    help="How often it may say LOW though HIGH is true.",
)
@click.option(
    "--model",
    type=click.Choice(["logistic", "normalized"]),
    default="logistic",
    show_default=True,
    help="The points of LOW and HIGH: Elo, or standard deviations of a game.",
)
@click.option(
    "--by",
    "unit",
    type=click.Choice(["board", "match"]),
    help="What is counted. [default: boards where both seatings play them, else matches]",
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
    as_json: bool,
    data: Path | None,
) -> None:
    """Is one bot better than another: all their matches, counted as chess engine testing does.

    A BOT is NAME@VERSION, or NAME for the newest version. GAME may name a form, such as pouku-3.

    What is counted are boards, each played in both seatings (a pair of games), as the format sprt
    counts them; or with --by match whole matches, which a bot that learns from board to board asks
    for, and tables of more than two. The bounds of an SPRT are to be set before anything is
    played, and the first verdict stands.
    """
    from arena.cli import lookup
    from arena.cli.ladders import compare_views, key_lookup
    from arena.cli.workspace import Workspace

    workspace = Workspace(data)
    assert workspace.existing_store is not None
    test = compare_views.test_of(sprt, alpha, beta, model)
    pair = (lookup.version(workspace, first).id, lookup.version(workspace, second).id)
    scopes = key_lookup.scopes_of(workspace, game, tournament)
    comparison = compare_views.compare(workspace.store, scopes, pair, unit, test)
    if as_json:
        output.document(comparison.to_json())
        return
    compare_views.show(comparison)
    output.next_step(*compare_views.go_on(comparison, pair), f"pokearena matrix {comparison.form}")
