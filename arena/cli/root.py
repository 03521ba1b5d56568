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
    "Get started": {
        "demo": "Run a whole arena and a tournament in each game.",
    },
    "Write a bot": {
        "rules": "Print the rules of a game, its options and its actions.",
        "new": "Create a folder with a starter bot.",
        "play": "Play one match locally.",
        "test": "Test a bot in each game that it plays.",
        "why": "Explain why a bot lost a match.",
        "ask": "Send a recorded question to a bot again.",
    },
    "Watch and check": {
        "watch": "Watch the arena live in the terminal.",
        "standings": "Show the ladders.",
        "matrix": "Show the crosstable.",
        "compare": "Compare two bots: score, intervals, SPRT.",
        "export": "Write ladders and crosstables as CSV, JSON or HTML.",
        "replay": "Step through a match in the terminal.",
        "verify": "Verify a record: deal, play and score the match again.",
        "logs": "Show the faults of a match and the output of its bots.",
    },
    "Organise": {
        "bot": "Manage the registered bots.",
        "owner": "Manage the owners of bots and their tokens.",
        "ladder": "Check ladders against the records, or rebuild them.",
        "tournament": "Run, watch and manage tournaments.",
    },
    "Operate": {
        "serve": "Run all services of an arena until Ctrl-C.",
        "web": "Serve only the web pages.",
        "metrics": "Serve the metrics of an arena for Prometheus.",
        "worker": "Run workers on a separate machine.",
        "referee": "Run one referee.",
        "db": "Upgrade, back up, restore or check the database.",
        "bench": "Measure the speed of the arena.",
        "doctor": "Check that everything the arena needs is installed.",
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
