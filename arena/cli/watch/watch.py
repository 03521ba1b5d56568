"""The command `pokearena watch`: show the live arena in a terminal."""

from __future__ import annotations

import rich_click as click

from arena.cli import completers, output
from arena.cli.errors import CommandError, usage_error
from arena.cli.options import data_option
from arena.cli.workspace import Workspace
from referee.games.game_packages import EXAMPLE_GAME


@click.command(epilog=f"Example: pokearena watch {EXAMPLE_GAME}")
@click.argument("ladder", required=False, metavar="[GAME]", shell_complete=completers.forms)
@data_option
def watch(ladder: str | None, workspace: Workspace) -> None:
    """Watch the arena live: ladders, running matches, bots.

    GAME can be a form, such as GAME-3. Running tables show only what all their players know.

    Keys: up and down select a row, enter opens the bot or match, esc goes back, q quits. On a
    ladder, m shows the crosstable, [ and ] switch to another ladder, / filters the bots.
    """
    import asyncio

    from arena.cli import key_input, lookup
    from arena.cli.services import running_services
    from arena.cli.watch import screen
    from arena.web.data.web_state import ServerSettings, WebState

    if not (output.is_terminal() and key_input.has_keys()):
        words = f" {ladder}" if ladder else ""
        raise usage_error(
            "watch requires a terminal; this output or input is not one.",
            "no-terminal",
            advice=f"pokearena standings{words} --watch",
        )
    engine = workspace.existing_store
    forms = [scope.name for scope in lookup.scopes_of(workspace, ladder, None)]
    if not forms:
        raise CommandError("no tournament has been played yet.", advice="pokearena demo")
    asyncio.run(
        screen.watch(
            WebState(engine, ServerSettings(redis=running_services.redis_of(workspace))), forms[0]
        )
    )
    output.next_step("pokearena standings", "pokearena serve")
