"""Resolve games, forms and tournaments on the command line to ladders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.errors import USAGE, CommandError

if TYPE_CHECKING:
    from arena.cli.workspace import Workspace
    from arena.ladders.ladder_key import LadderKey


def scopes_of(workspace: Workspace, name: str | None, tournament: str | None) -> list[LadderKey]:
    """Return the ladders of a game, a form or a tournament; all ladders if neither is given.

    Raises:
        CommandError: the game or tournament is unknown, or the form has no tournament.
    """
    from arena.cli import game_options, lookup
    from arena.ladders import ladder_key
    from arena.store.tournaments import tournaments
    from referee.games.registry import GAMES

    if tournament is not None:
        stored = tournaments.find(workspace.store, lookup.tournament(workspace, tournament))
        return [ladder_key.of_tournament(stored)]
    # The rules of the games are not needed for the ladders of all games.
    held = ladder_key.of_forms(workspace.store, name)
    if held or name is None:
        return held
    game, dash, _ = name.partition("-")
    if dash and game in GAMES:
        sentence = f'no tournament of "{name}" in this arena.'
        raise CommandError(sentence, USAGE, "pokearena tournament list", code="not-played")
    return ladder_key.of_forms(workspace.store, game_options.game_named(name).id)
