"""Resolve the names of tournaments, versions and ladders on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.errors import unique_id, usage_error
from arena.cli.workspace import Workspace
from arena.errors import InvalidSettings, nearest
from arena.store import ids
from arena.store.bots import versions
from arena.store.bots.versions import Version

if TYPE_CHECKING:
    from arena.ladders.ladder_key import LadderKey


_TOURNAMENT = "t-"


def tournament_id_of(workspace: Workspace, name: str) -> str:
    """Return the id of a tournament by its prefix."""
    prefix = name if name.startswith(_TOURNAMENT) else _TOURNAMENT + name
    fitting = ids.tournaments(workspace.existing_store, prefix)
    advice = "`pokearena tournament list` lists all."
    return unique_id("tournament", name, prefix, fitting, advice)


def find_version(workspace: Workspace, label: str) -> Version:
    """Return the version NAME@NUMBER, or the newest of NAME."""
    name, at, _ = label.partition("@")
    everything = versions.list_versions(workspace.existing_store, retired=True)
    fitting = [v for v in everything if (v.id == label if at else v.name == name)]
    if fitting:
        active = [v for v in fitting if v.retired is None]
        return (active or fitting)[-1]
    known = [v.id for v in everything] if at else sorted({v.name for v in everything})
    hint = nearest(label, known) or "; `pokearena bot list` lists all."
    raise usage_error(f'unknown bot "{label}"{hint}', "unknown-bot")


def _stored_name(name: str) -> str:
    """Return the id of a game, or the name of a form or ladder as it is stored."""
    from arena.store import match_settings

    try:
        return match_settings.game_named(name).id
    except InvalidSettings:
        return match_settings.canonical_ladder(name)


def scopes_of(
    workspace: Workspace,
    name: str | None,
    tournament: str | None,
    *,
    season: int | None = None,
    archives: bool = False,
) -> list[LadderKey]:
    """Return the ladders of a game, a form or a tournament; all ladders if neither is given.

    Without a season, these are the current ones, and with `archives` all.
    """
    from arena.ladders import ladder_key
    from arena.store.tournaments import tournaments
    from referee.games.registry import GAMES

    if tournament is not None:
        name = tournament_id_of(workspace, tournament)
        stored = tournaments.find_tournament(workspace.store, name)
        return [ladder_key.of_tournament(stored)]
    # The rules of the games are not needed for the ladders of all games.
    every = ladder_key.of_seasons(workspace.existing_store, name)
    if not every and name is not None:
        name = _stored_name(name)
        every = ladder_key.of_seasons(workspace.store, name)
    if season is not None:
        chosen = [scope for scope in every if scope.season == season]
        if not chosen:
            known = ", ".join(f"{scope.name} {scope.season}" for scope in every) or "none"
            raise usage_error(f"unknown season {season}; available: {known}.", "unknown-season")
        return chosen
    held = [scope for scope in every if archives or not scope.archived]
    if held or name is None or name in GAMES:
        return held
    sentence = f'no tournament of "{name}" in this arena.'
    raise usage_error(sentence, "not-played", advice="pokearena tournament list")
