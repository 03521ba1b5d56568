"""The command `pokearena demo`: run an arena with a tournament in each game."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK
from arena.cli.options import (
    data_option,
    given_text,
    json_option,
    pages_option,
    sandbox_option,
    web_options,
    workers_option,
)
from arena.cli.workspace import Workspace
from arena.services.web_process import Pages, WebSettings, listen_near

if TYPE_CHECKING:
    from arena.cli.tournaments.live_table import TournamentSnapshot
    from arena.cli.tournaments.running import CheckedMatch


@click.command(epilog="Example: pokearena demo --seed friday")
@click.option(
    "-n",
    "--boards",
    type=click.IntRange(1, 1000),
    help="Number of boards per match. [default: enough for about a minute]",
)
@click.option(
    "--cycles",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Number of matches of each pairing.",
)
@click.option(
    "--seed",
    metavar="TEXT",
    callback=given_text,
    help="Seed of all cards. [default: random]",
)
@click.option(
    "--full",
    is_flag=True,
    help="Let `strong`, which searches, play every game instead of one: about four minutes.",
)
@workers_option
@sandbox_option
@pages_option(default=True)
@web_options
@json_option
@data_option
def demo(
    boards: int | None,
    cycles: int,
    seed: str | None,
    full: bool,
    workers: int | None,
    web: bool,
    host: str,
    port: int,
    web_settings: WebSettings,
    as_json: bool,
    workspace: Workspace,
) -> int:
    """Run a whole arena on this machine: a tournament of the house bots in each game.

    The command starts a Redis, a worker per core, each with a referee, and the web pages at the
    next free port. It registers the house bots and plays a round robin in each game. Then it deals
    and replays every match again to verify the records, and stops all services. Ctrl-C loses no
    committed games, and the last line shows how to continue.
    """
    # Before imports that take seconds in a new installation, because Python compiles the packages.
    output.hint("starting an arena on this machine")
    from arena.cli.tournaments import demo_tournaments, running

    began = time.monotonic()
    output.hint(f"data folder: {workspace.folder.root}")
    tournaments = demo_tournaments.planned(boards, cycles, full)
    for line in demo_tournaments.table(tournaments):
        output.hint(line)

    def begin() -> list[str]:
        return demo_tournaments.begin(workspace, tournaments, seed)

    def pages() -> Pages:
        return Pages(listen_near(host, port), web_settings)

    snapshots = running.play_out(workspace, workers, begin, pages if web else None)
    output.hint("dealing and replaying every match again")
    checked = running.check_results(
        workspace.store, [snapshot.tournament.id for snapshot in snapshots]
    )
    seconds = round(time.monotonic() - began, 1)
    if as_json:
        output.document(demo_tournaments.as_json(workspace, snapshots, checked, seconds))
    else:
        _show(workspace, snapshots, checked, seconds)
    return FAILED if any(match.problems for match in checked) else OK


def _show(
    workspace: Workspace,
    snapshots: Sequence[TournamentSnapshot],
    checked: Sequence[CheckedMatch],
    seconds: float,
) -> None:
    from arena.cli.ladders import ladder_table
    from arena.cli.tournaments import views

    for snapshot in snapshots:
        views.conclude(workspace, snapshot)
    problems = [problem for match in checked for problem in match.problems]
    for problem in problems:
        output.complain(problem)
    games = sum(match.match.committed for match in checked)
    if not problems:
        output.line(
            f"{len(checked)} matches closed once each, {games} games, every record verifies · "
            f"{seconds:.0f} s"
        )
    ladder_table.explain(snapshot.standings for snapshot in snapshots)
    closed = [match.match.id for match in checked if not match.problems]
    output.next_step(
        *(f"pokearena replay {match}" for match in closed[:1]),
        "pokearena standings",
        "pokearena new mybot",
    )
