"""Give bots on an author's machine the models of a `models.toml`, as a worker does in an arena."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

from arena.bots.bot import Bot
from arena.bots.sandbox import available_levels
from arena.cli import config_file, output
from arena.cli.workspace import Workspace
from arena.models.match_models import MatchModels, usable_models
from arena.models.models_file import FILE, author_folder, read_models
from arena.store.bots.model_grants import GrantedModels, granted_names

if TYPE_CHECKING:
    from pathlib import Path

    from arena.matches.local_match import LocalMatch


def of_match(workspace: Workspace, match: LocalMatch) -> MatchModels | None:
    """Return the models of a local match; None if its bots get none.

    Raises:
        InfrastructureError: they cannot be used now.
    """
    return of_bots(workspace, match.spec.id, {bot.label: bot for bot in match.bots})


def of_bots(
    workspace: Workspace, match: str, bots: Mapping[str, Bot], *, kept: bool = True
) -> MatchModels | None:
    """Return the models of bots, by their names in a match; print a sentence for each without.

    With `kept`, the transcripts are kept with the output of the match.

    Raises:
        InfrastructureError: they cannot be used now.
    """
    declaring = {
        name: bot
        for name, bot in bots.items()
        if bot.manifest is not None and bot.manifest.models and bot.network_key is None
    }
    if not declaring:
        return None
    user = config_file.user_file().parent
    folder = author_folder(workspace.folder.root, user)
    granted = {
        name: GrantedModels(name, bot.label, models)
        for name, bot in declaring.items()
        if (models := _allowed(workspace, bot, folder))
    }
    if not granted or folder is None:
        return None
    if not hasattr(socket, "AF_UNIX"):
        output.warn("Bots play without their models: this system has no Unix sockets for them.")
        return None
    return usable_models(
        workspace.store if workspace.has_store else None,
        match,
        granted,
        folder,
        workspace.folder.outputs / match if kept else None,
        available_levels.best_level(),
    )


def _allowed(workspace: Workspace, bot: Bot, folder: Path | None) -> tuple[str, ...]:
    """Return the models that a bot gets; print a sentence if it gets none of them."""
    assert bot.manifest is not None
    declared = bot.manifest.models
    if bot.content:
        # A stored version came from somebody else.
        from arena.store.bots import versions

        stored = versions.list_versions(workspace.store, retired=True)
        version = next(each for each in stored if each.content_hash == bot.content)
        allowed = granted_names(workspace.store, version.owner, version.id, declared)
        why = f"`pokearena models grant {declared[0]} --bot {version.id}` grants it"
    else:
        file = None if folder is None else read_models(folder)
        allowed = [name for name in declared if file is not None and name in file.models]
        path = config_file.user_file().parent / FILE
        why = f"describe it in {path} (docs/how-to/models.md)"
    if not allowed:
        output.warn(f'{bot.label} plays without its model "{declared[0]}": {why}.')
    return tuple(allowed)
