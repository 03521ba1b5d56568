"""The command `pokearena` and the table of its commands."""

from __future__ import annotations

import importlib
from typing import Any

import rich_click as click

# A group of commands whose modules are imported only when one of them is called.


class LazyCommand(click.RichCommand):
    """Placeholder for a command in the help of its group until it is called.

    Args:
        name: name of the command.
        where: "module:name" of the command.
        short: help text of the command.
    """

    def __init__(self, name: str, where: str, short: str) -> None:
        super().__init__(name=name, help=short, add_help_option=False)
        self._where = where

    def load(self) -> click.Command:
        """Import and return the command."""
        module, _, name = self._where.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


class LazyGroup(click.RichGroup):
    """A group that imports only the command that is called."""

    def later(self, name: str, where: str, short: str) -> None:
        """Add a command that is imported when it is called."""
        self.add_command(LazyCommand(name, where, short))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, Any, list[str]]:
        """Return the command named by the arguments, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, LazyCommand) else command, rest


_COMMANDS = {
    "See it": {
        "demo": "A whole arena and a tournament in every game.",
    },
    "Write a bot": {
        "rules": "The rules of a game, its options and forms of action.",
        "new": "Write a starter bot into a new folder.",
        "play": "Play one match here and now: the author's test bench.",
        "test": "Try a bot in every game and form that it claims.",
        "why": "Why a match was lost: every fault, or the boards and the thinking.",
        "ask": "Put one recorded question to a bot again.",
    },
    "Watch and check": {
        "watch": "The arena live in the terminal, with keys.",
        "standings": "The ladders of all games.",
        "matrix": "Who did how against whom.",
        "compare": "Is one bot better than another: intervals, SPRT.",
        "export": "Ladders and crosstables as CSV, JSON or a page.",
        "replay": "Step through a match.",
        "verify": "Deal, play and score a match again: is its record true?",
        "logs": "What went wrong in a match, and what the bots wrote.",
    },
    "Organise": {
        "bot": "The versions of bots that may enter tournaments.",
        "owner": "Owners of bots, and their tokens.",
        "ladder": "Are results and ladders those of the records?",
        "tournament": "Schedule, watch, resume and cancel tournaments.",
    },
    "Operate": {
        "serve": "Redis, a referee, workers and the pages, until Ctrl-C.",
        "web": "The pages alone: ladders, matches and replays in the browser.",
        "metrics": "The figures of an arena, for Prometheus.",
        "worker": "One worker for services that run elsewhere.",
        "referee": "One referee at an address.",
        "db": "The database: upgrade, backup, restore, check.",
        "bench": "How fast everything is, beside peers in the same run.",
        "doctor": "Is everything there that the arena needs?",
    },
}

_PACKAGES = {
    "bots": "bot new owner",
    "develop": "ask bench doctor rules test",
    "matches": "logs play replay verify why",
    "tournaments": "demo tournament",
    "ladders": "compare export ladder matrix standings",
    "services": "db metrics referee serve web worker",
    "watch": "watch",
}
"""Packages of arena.cli, with the commands in each."""
_PACKAGE_OF = {name: package for package, names in _PACKAGES.items() for name in names.split()}

_GROUPS = [{"name": title, "commands": list(commands)} for title, commands in _COMMANDS.items()]
_HELP = {
    # Loading emojis takes as long as the rest of a help page. So does the panel of options, and the
    # command itself has only two well-known options.
    "text_emojis": False,
    "text_markup": "rich",
    "max_width": 100,
    "command_groups": {"pokearena": _GROUPS},
}


@click.group(
    "pokearena",
    cls=LazyGroup,
    context_settings={
        "auto_envvar_prefix": "POKEARENA",
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        # The decorator of rich-click would import rich for every command.
        "rich_help_config": _HELP,
    },
    epilog="Example: pokearena demo",
)
@click.version_option(None, "-V", "--version", package_name="pokearena", hidden=True)
@click.help_option("-h", "--help", hidden=True)
def pokearena() -> None:
    """A tournament and bot arena for the Poke family of card games.

    `pokearena COMMAND --help` explains a command, `pokearena --version` says which release this
    is. Every option can be set by a variable as well: POKEARENA_DATA is --data everywhere,
    POKEARENA_PLAY_SEED is --seed of play.
    """


for _commands in _COMMANDS.values():
    for _name, _short in _commands.items():
        pokearena.later(_name, f"arena.cli.{_PACKAGE_OF[_name]}.{_name}:{_name}", _short)
