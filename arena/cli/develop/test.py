"""The command `pokearena test`: check that a bot implements the protocol."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import output
from arena.cli.errors import FAILED, OK
from arena.cli.options import data_option, json_option

if TYPE_CHECKING:
    from arena.submissions.conformance.check import Check


@click.command(epilog="Example: pokearena test ./mybot --game poke")
@click.argument("bot")
@click.option(
    "--game", "games", multiple=True, metavar="GAME", help="Only this game; may be given again."
)
@click.option(
    "--seed",
    default="1",
    show_default=True,
    metavar="TEXT",
    help="What all cards follow from: any text, or 64 hexadecimal digits.",
)
@click.option(
    "--quick", is_flag=True, help="Run a selection of about 20 seconds, as for a submission."
)
@json_option
@data_option
def test(
    bot: str,
    games: tuple[str, ...],
    seed: str,
    quick: bool,
    as_json: bool,
    data: Path | None,
) -> int:
    """Try a bot: does it do what the protocol asks, in every game and form that it claims?

    It is built, started, asked what is awkward to answer, and plays every form against itself,
    strictly and by the clock. Every failure comes with the command that asks the same again.
    """
    from arena.cli import game_options
    from arena.cli.develop import examination
    from arena.cli.workspace import Workspace

    workspace = Workspace(data)
    wanted = [game_options.game_named(name).id for name in games]
    found = workspace.bot(bot)
    for name in wanted:
        game_options.check_plays(found, game_options.game_named(name))
    checks: list[Check] = []
    shown = examination.Shown(found, as_json)
    with shown:
        for check in examination.examine(workspace, found, bot, wanted, seed, quick, shown.about):
            checks.append(check)
            shown.tell(check)
    failed = [check for check in checks if check.failed]
    if as_json:
        output.document(examination.as_json(found, seed, checks))
    else:
        output.line(examination.summary(checks))
    commands = dict.fromkeys(check.command for check in failed if check.command)
    if failed:
        output.next_step(*(list(commands) or [f"pokearena test {shlex.quote(bot)}"])[:1])
        return FAILED
    output.next_step(f"pokearena bot add {shlex.quote(bot)}")
    return OK
