"""Functions that complete words of a command line (`shell_complete` of click's parameters).

The store is only read, and opened only for words that are in it. Errors complete nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

from arena.cli.workspace import Workspace

if TYPE_CHECKING:
    from sqlalchemy import Engine

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]
Candidates = Callable[[click.Context, str], Iterable[str]]
"""Returns words for the beginning of a word; those that do not begin with it are left out."""

_MAX_COMPLETIONS: Final = 100
_SAFE: Final = re.compile(r"[\w@%+=:./-]+")
"""Words that mean the same in every shell without quotes."""


def completer(candidates: Candidates, *, files: bool = False) -> Completer:
    """Return a function for click that completes words.

    With `files`, the shell completes names of files if no word begins as typed.
    """

    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        try:
            words = sorted(set(candidates(context, incomplete)))
        except Exception:
            # An error of the store would appear in the middle of the user's line.
            words = []
        fitting = [word for word in words if word.startswith(incomplete) and _SAFE.fullmatch(word)]
        if not fitting and files:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(word) for word in fitting[:_MAX_COMPLETIONS]]

    return complete


def _workspace(context: click.Context) -> Workspace:
    data = context.params.get("data")
    return Workspace(Path(data) if data else None)


def _store(context: click.Context) -> Engine | None:
    """Return the store as it is, without creating or upgrading it; None without a store."""
    workspace = _workspace(context)
    if not workspace.has_store:
        return None
    from arena.store import database

    return database.open(workspace.folder.database_url())


def _game_ids(context: click.Context, incomplete: str) -> Iterable[str]:
    from referee.games.registry import GAMES

    return GAMES


def _forms(context: click.Context, incomplete: str) -> Iterator[str]:
    yield from _game_ids(context, incomplete)
    if (engine := _store(context)) is not None:
        from arena.store.tournaments import tournaments as stored

        yield from (tournament.plan.ladder for tournament in stored.list_tournaments(engine))


def _versions(context: click.Context, incomplete: str) -> Iterator[str]:
    if (engine := _store(context)) is not None:
        from arena.store.bots import versions as stored

        for version in stored.list_versions(engine):
            yield version.name
            yield version.id


def _bots(context: click.Context, incomplete: str) -> Iterator[str]:
    from arena.bots import resolver

    yield from (resolver.SAMPLE + name for name in resolver.samples())
    if incomplete.startswith(resolver.SAMPLE):
        return
    folder, slash, _ = incomplete.rpartition("/")
    for path in Path(folder + slash or ".").expanduser().iterdir():
        if (path / "bot.toml").is_file():
            yield folder + slash + path.name
    yield from _versions(context, incomplete)


def _players(context: click.Context, incomplete: str) -> Iterator[str]:
    from arena.bots.bot import HUMAN

    yield HUMAN
    yield from _bots(context, incomplete)


def _tournaments(context: click.Context, incomplete: str) -> Iterable[str]:
    if (engine := _store(context)) is None:
        return ()
    from arena.store import ids

    return ids.tournaments(engine, incomplete, _MAX_COMPLETIONS)


def _matches(context: click.Context, incomplete: str) -> Iterator[str]:
    from arena.cli.matches import local_matches
    from arena.matches import local_records

    local = local_records.records(_workspace(context).folder)
    if local:
        yield local_matches.LAST
    yield from (path.stem for path in local)
    if (engine := _store(context)) is not None:
        from arena.store import ids

        yield from ids.matches(engine, incomplete, _MAX_COMPLETIONS)


def _stored(module: str, listing: str, attribute: str) -> Completer:
    """Return a completer of an attribute of the rows that a function of `arena.store` lists."""

    def words(context: click.Context, incomplete: str) -> Iterator[str]:
        if (engine := _store(context)) is not None:
            rows = getattr(import_module(f"arena.store.{module}"), listing)(engine)
            yield from (getattr(row, attribute) for row in rows)

    return completer(words)


def _formats(context: click.Context, incomplete: str) -> Iterable[str]:
    from arena.formats.registry import FORMATS

    return FORMATS


def _format_settings(context: click.Context, incomplete: str) -> Iterator[str]:
    from arena.formats.registry import settings_of

    for name, kind in settings_of(context.params["format"]).items():
        yield f"{name}=true" if kind is bool else f"{name}="


def _game_options(context: click.Context, incomplete: str) -> Iterator[str]:
    from referee.games.registry import find_game

    # Click leaves the arguments unassigned if the last option has no value yet.
    game = context.params.get("game") or context.args[0]
    for name, option in find_game(game).options.items():
        if isinstance(option.default, bool):
            yield f"{name}=false" if option.default else name
        elif option.choices:
            yield from (f"{name}={choice}" for choice in option.choices)
        else:
            yield f"{name}="


def _commands(context: click.Context, incomplete: str) -> Iterable[str]:
    from arena.cli.root import LazyCommand

    command: click.Command | None = context.find_root().command
    for word in context.params.get("command") or ():
        command = command.get_command(context, word) if isinstance(command, click.Group) else None
        command = command.load() if isinstance(command, LazyCommand) else command
    return command.list_commands(context) if isinstance(command, click.Group) else ()


game_ids = completer(_game_ids)
game_or_file = completer(_game_ids, files=True)
forms = completer(_forms)
bots = completer(_bots, files=True)
players = completer(_players, files=True)
versions = completer(_versions)
tournaments = completer(_tournaments)
tournament_or_file = completer(_tournaments, files=True)
matches = completer(_matches)
match_or_file = completer(_matches, files=True)
owners = _stored("bots.owners", "list_owners", "name")
organisers = _stored("access.organisers", "list_organisers", "name")
webhooks = _stored("webhooks", "list_webhooks", "id")
formats = completer(_formats)
format_settings = completer(_format_settings)
game_options = completer(_game_options)
commands = completer(_commands)
