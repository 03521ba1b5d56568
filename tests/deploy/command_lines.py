"""Check commands, flags and variables in deploy/ against the arena's code."""

import re
from collections.abc import Sequence
from pathlib import Path

import click

from arena.cli.root import LazyCommand, pokearena
from tests.deploy.manifests import ROOT


def parsed_command(words: Sequence[str], a_file: Path) -> click.Context:
    """Parse a command line of the arena without running the command.

    Args:
        words: the command and its arguments.
        a_file: an existing file that replaces paths inside a container.

    Raises:
        click.ClickException: the command or an option is not valid.
    """
    command: click.Command = pokearena
    left = [str(a_file) if word.startswith("/run/") else word for word in words]
    context = click.Context(command)
    while isinstance(command, click.Group):
        name = left.pop(0)
        subcommand = command.get_command(context, name)
        if subcommand is None:
            raise click.UsageError(f"no command {name}")
        command = subcommand.load() if isinstance(subcommand, LazyCommand) else subcommand
    return command.make_context(" ".join(words), left)


def variables() -> set[str]:
    """Return the environment variables that the arena's code reads."""
    sources = [path for room in ("arena", "referee") for path in (ROOT / room).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    return set(re.findall(r'"(POKEARENA_[A-Z_]+)"', text))
