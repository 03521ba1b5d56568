"""The command `pokearena` and the table of its commands."""

from __future__ import annotations

import importlib
import os
from typing import Any

import rich_click as click

from arena.cli import config_file
from referee.games.game_packages import ALL, SETTING

PREFIX = "POKEARENA"
"""Prefix of the environment variables of options."""
_HELP_FLAGS = frozenset(("-h", "--help"))
_OF_AUTHORS = frozenset(("game", "new", "play", "rules", "test", "tune"))
"""Commands that load the games of all installed packages unless a setting allows some."""
_COMMANDS = {
    "Get started": {
        "demo": "Run a whole arena and a tournament in each game.",
    },
    "Write a bot": {
        "rules": "Print the rules of a game, its options and its actions.",
        "new": "Create a folder with a starter bot.",
        "play": "Play one match locally.",
        "test": "Test a bot in each game that it plays.",
        "tune": "Tune the parameters of a bot by SPSA.",
        "why": "Explain why a bot lost a match.",
        "ask": "Send a recorded question to a bot again.",
        "mcp": "Serve the arena's tools to an agent (Model Context Protocol).",
    },
    "Write a game": {
        "game": "Write a game as a package, test it, and list the games.",
    },
    "Watch and check": {
        "watch": "Watch the arena live in the terminal.",
        "standings": "Show the ladders.",
        "matrix": "Show the crosstable.",
        "compare": "Compare two bots: score, intervals, SPRT.",
        "sprt": "Compute the expected length of an SPRT.",
        "export": "Write ladders and crosstables as CSV, JSON or HTML.",
        "analyse": "Analyse the play of a match: mistakes, accuracy, luck.",
        "replay": "Step through a match in the terminal.",
        "verify": "Verify a record: deal, play and score the match again.",
        "logs": "Show the faults of a match and the output of its bots.",
    },
    "Organise": {
        "bot": "Manage the registered bots.",
        "owner": "Manage the owners of bots and their tokens.",
        "models": "Manage the language models of hosted bots.",
        "ladder": "Check ladders against the records, or rebuild them.",
        "organiser": "Manage the tokens of organisers, and show the audit log.",
        "tournament": "Run, watch and manage tournaments.",
        "webhook": "Send results and changes to other services.",
    },
    "Operate": {
        "serve": "Run all services of an arena until Ctrl-C.",
        "web": "Serve only the web pages.",
        "metrics": "Serve the metrics of an arena for Prometheus.",
        "worker": "Run workers on a separate machine.",
        "referee": "Run one referee.",
        "db": "Upgrade, back up, restore or check the database.",
        "doctor": "Check that everything the arena needs is installed.",
        "config": "Show the settings from files and variables.",
        "completion": "Print the completion script of a shell.",
    },
}
_PACKAGES = {
    "bots": "bot models new organiser owner",
    "develop": "ask completion config doctor game mcp rules test tune",
    "matches": "analyse logs play replay verify why",
    "tournaments": "demo tournament",
    "ladders": "compare export ladder matrix sprt standings",
    "services": "db metrics referee serve web webhook worker",
    "watch": "watch",
}
"""Packages of arena.cli, with the commands in each."""
_PACKAGE_OF = {name: package for package, names in _PACKAGES.items() for name in names.split()}
_GROUPS = [{"name": title, "commands": list(commands)} for title, commands in _COMMANDS.items()]
_WIDTH = 100
"""Columns of a help page at most."""
_HELP = {
    # Loading emojis takes as long as the rest of a help page.
    "text_emojis": False,
    "text_markup": "rich",
    "max_width": _WIDTH,
    "command_groups": {"pokearena": _GROUPS},
}


class LazyCommand(click.RichCommand):
    """Placeholder for a command in the help of its group until it is called.

    `where` is its "module:name".
    """

    def __init__(self, name: str, where: str, short: str) -> None:
        super().__init__(name=name, help=short, add_help_option=False)
        self._where = where

    def load(self) -> click.Command:
        """Import and return the command."""
        module, _, name = self._where.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        _name_variables(command, f"{PREFIX}_{self.name}")
        return command


def _name_variables(command: click.Command, prefix: str) -> None:
    """Name the environment variable of each option after its flag.

    Click derives it from the Python parameter, which differs for example for `--json`.
    """
    if isinstance(command, click.Group):
        for name, member in command.commands.items():
            _name_variables(member, f"{prefix}_{name}")
    for option in command.params:
        if isinstance(option, click.Option) and option.envvar is None:
            key = config_file.key_of(option).replace("-", "_")
            if key != option.name:
                option.envvar = f"{prefix}_{key}".replace("-", "_").upper()


class LazyGroup(click.RichGroup):
    """A group that imports only the command that is called."""

    def later(self, name: str, where: str, short: str) -> None:
        """Add a command that is imported when it is called."""
        self.add_command(LazyCommand(name, where, short))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, Any, list[str]]:
        """Return the command named by the arguments, imported, and read its configuration."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
            command = command.load()
        if name and command and _HELP_FLAGS.isdisjoint(rest):
            try:
                ctx.default_map = {name: self._defaults(ctx, name, command)}
            except Exception:
                # A faulty file prevents no completion.
                if not ctx.resilient_parsing:
                    raise
        return name, command, rest

    def _defaults(self, ctx: click.Context, name: str, command: click.Command) -> dict[str, Any]:
        if not (isinstance(command, click.Group) or config_file.options_of(command)):
            return {}
        files = config_file.read_files(self.commands)
        _allow_packages(ctx, name, files)
        return config_file.default_map(files, (name,), command)


def _allow_packages(ctx: click.Context, name: str, files: list[config_file.ConfigFile]) -> None:
    """Set the variable that allows the games of packages, for this process and those it starts.

    An author who plays with a game has installed it; other commands may meet its name in a record
    or in a bot of somebody else.
    """
    if SETTING in os.environ or name == "config":
        return
    file = config_file.allowed_packages(files)
    if file is not None:
        os.environ[SETTING] = " ".join(file.document.values[config_file.GAMES])
    elif name in _OF_AUTHORS:
        os.environ[SETTING] = ALL
    else:
        return
    if not ctx.resilient_parsing:
        ctx.call_on_close(lambda: os.environ.pop(SETTING, None))


@click.group(
    "pokearena",
    cls=LazyGroup,
    context_settings={
        "auto_envvar_prefix": PREFIX,
        "help_option_names": sorted(_HELP_FLAGS, key=len),
        "max_content_width": _WIDTH,
        # The decorator of rich-click would import rich for every command.
        "rich_help_config": _HELP,
    },
    epilog="Example: pokearena demo",
)
@click.version_option(None, "-V", "--version", package_name="pokearena", hidden=True)
@click.help_option("-h", "--help", hidden=True)
def pokearena() -> None:
    """A tournament and bot arena for the Poke family of card games.

    `pokearena COMMAND --help` explains a command, and `pokearena --version` prints the version.
    Each option can also be set by an environment variable: POKEARENA_DATA sets --data of all
    commands, POKEARENA_PLAY_SEED sets --seed of play. `pokearena config` shows the variables and
    the configuration files in force.
    """


for _commands in _COMMANDS.values():
    for _name, _short in _commands.items():
        pokearena.later(_name, f"arena.cli.{_PACKAGE_OF[_name]}.{_name}:{_name}", _short)
