"""The command `pokearena test`: check that a bot implements the protocol."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import FAILED, INCOMPLETE, OK
from arena.cli.options import data_option, given_text, json_option
from arena.cli.workspace import Workspace
from referee.games.game_packages import EXAMPLE_GAME

if TYPE_CHECKING:
    from arena.submissions.conformance.check import Check


@click.command(epilog=f"Example: pokearena test ./mybot --game {EXAMPLE_GAME}")
@click.argument("bot", shell_complete=completers.bots)
@click.option(
    "--game",
    "games",
    multiple=True,
    metavar="GAME",
    shell_complete=completers.game_ids,
    help="Test only this game; repeatable.",
)
@click.option(
    "--seed",
    default="1",
    show_default=True,
    metavar="TEXT",
    callback=given_text,
    help="Seed of all cards: any text, or 64 hexadecimal digits.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Run a fixed selection of the checks, as for a submission: 20 seconds for a fast bot.",
)
@json_option
@data_option
def test(
    bot: str,
    games: tuple[str, ...],
    seed: str,
    quick: bool,
    as_json: bool,
    workspace: Workspace,
) -> int:
    """Check that a bot implements the protocol in every game and form of its manifest.

    Builds and starts the bot, plays every form against itself with time limits, and sends unusual
    questions. For each failure, the output has a command that repeats it. The exit status is 1 if
    a check failed, and 4 if none failed but at least one could not be run.
    """
    from arena.cli import game_options
    from arena.cli.develop import examination
    from arena.store import match_settings

    game_ids = [match_settings.game_named(name).id for name in games]
    resolved = workspace.bot(bot)
    for name in game_ids:
        game_options.check_plays(resolved, match_settings.game_named(name))
    output.warn_without_sandbox()
    checks: list[Check] = []
    shown = examination.Shown(resolved, as_json)
    with shown:
        for check in examination.examine(
            workspace, resolved, bot, game_ids, seed, quick, shown.about
        ):
            checks.append(check)
            shown.print_check(check)
    failed = [check for check in checks if check.failed]
    if as_json:
        output.document(examination.as_json(resolved, seed, checks))
    else:
        output.line(examination.summary(checks))
    commands = dict.fromkeys(check.command for check in failed if check.command)
    if failed:
        output.next_step(*(list(commands) or [f"pokearena test {shlex.quote(bot)}"])[:1])
        return FAILED
    if any(check.unchecked for check in checks):
        output.next_step(f"pokearena test {shlex.quote(bot)}")
        return INCOMPLETE
    output.next_step(f"pokearena bot add {shlex.quote(bot)}")
    return OK
