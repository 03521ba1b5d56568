"""The command `pokearena mcp`: serve tools for agents on standard input and output."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from arena.bots import resolver
from arena.bots.bot import HUMAN
from arena.cli import output
from arena.cli.bots.push import token_option
from arena.cli.errors import CommandError
from arena.cli.matches import match_request
from arena.cli.options import ca_option, data_option, required_token
from arena.cli.workspace import Workspace
from referee.games.shared.coded_errors import CodedError

if TYPE_CHECKING:
    from arena.matches.play_table import PlayTable

_TABLES = 8
"""Maximum number of tables at the same time; each has a referee and bots of its own."""


@click.command(epilog="Example: pokearena mcp")
@click.option(
    "--to",
    "url",
    metavar="URL",
    help="Play the matches that this arena schedules for a remote bot; its relay or its pages.",
)
@token_option
@ca_option
@data_option
def mcp(url: str | None, token: str | None, authority: Path | None, workspace: Workspace) -> None:
    """Serve the arena's tools to an agent on standard input and output, until it ends.

    A client of the Model Context Protocol starts this command. It gives a player the tools to
    play every game against bots, an author those to write, test and compare bots, and an
    organiser tournaments and standings. It requires the extra `mcp`.

    With --to, the agent is a remote bot (`pokearena bot add --remote`): it answers the questions
    of the matches that the arena schedules and rates, and has no other tools.
    """
    try:
        from arena.mcp.server import local_server
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(("mcp", "pydantic")):
            raise
        raise CommandError(
            "the package mcp is not installed; install pokearena[mcp].", code="no-mcp"
        ) from None
    if url is not None:
        from arena.cli.develop import agent_seats

        agent_seats.serve(url, required_token(token), authority)
        return
    tables = LocalTables(workspace)
    output.warn_without_sandbox()
    try:
        local_server(tables).run()
    finally:
        tables.close()


@dataclass(slots=True)
class LocalTables:
    """The tables of the agent that has started this process."""

    workspace: Workspace
    _tables: dict[str, PlayTable] = field(default_factory=dict)

    def open(
        self,
        game: str,
        opponents: Sequence[str],
        place: int,
        seats: int | None,
        options: Mapping[str, Any],
    ) -> PlayTable:
        """Begin a match against bots.

        Raises:
            MatchRefused: a bot, an option or the number of tables is not allowed.
        """
        from arena.matches.play_table import PlayTable
        from arena.mcp.player_tools import MatchRefused, check_entrants
        from arena.store.match_settings import game_named, one_game

        if sum(not table.is_over for table in self._tables.values()) >= _TABLES:
            raise MatchRefused(f"{_TABLES} tables are open: finish or resign one of them.")
        try:
            settings = one_game(game_named(game), options, seats)
            check_entrants(settings, opponents, place)
            missing = settings.sides - 1 - len(opponents)
            entrants = [*opponents, *[resolver.usual_opponent(settings.game)] * missing]
            entrants.insert(place, HUMAN)
            seed = secrets.token_hex(16)
            match = match_request.prepare(self.workspace, settings, entrants, seed)
        except (CodedError, CommandError) as error:
            raise MatchRefused(str(error)) from None
        table = PlayTable(match, self.workspace.folder, "mcp", lambda topic: None, {})
        self._tables[table.id] = table
        table.start()
        return table

    def find(self, table: str) -> PlayTable | None:
        """Return the table with this id, or None."""
        return self._tables.get(table)

    def opponents(self, game: str) -> list[str]:
        """Return the house bots that play a game."""
        return [
            f"{resolver.SAMPLE}{n}" for n in resolver.samples() if resolver.sample(n).plays(game)
        ]

    def close(self) -> None:
        """Leave all tables and wait for their records."""
        for table in self._tables.values():
            table.leave()
        for table in self._tables.values():
            table.join(5)
