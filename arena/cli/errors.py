"""What ends a command, and the exit statuses."""

import os
import shlex
from typing import Final

import rich_click as click
from click.core import ParameterSource

# What to type next, so that it works as it stands.


UV_RUN = "UV_RUN_RECURSION_DEPTH"
"""What `uv run` sets for the command it runs, whose folder of programs is on no other PATH."""


def typed(command: str) -> str:
    """The command as it works here: with `uv run` where this one was run so, and with the --data
    that this one was given."""
    command = _with_data(command)
    if UV_RUN in os.environ and command.startswith("pokearena"):
        return f"uv run {command}"
    return command


def _with_data(command: str) -> str:
    context = click.get_current_context(silent=True)
    if context is None or context.get_parameter_source("data") is not ParameterSource.COMMANDLINE:
        return command
    takes_it = command.startswith("pokearena ") and not command.startswith("pokearena new ")
    if not takes_it or command.endswith("--help") or " --data " in command:
        return command
    return f"{command} --data {shlex.quote(str(context.params['data']))}"


OK: Final = 0
FAILED: Final = 1
"""What was asked for failed: a bot faulted, a record is not true."""
USAGE: Final = 2
"""What was asked for cannot be asked for: an unknown option, game, bot or match."""
UNREACHABLE: Final = 3
"""Redis, the database, a referee or a bot cannot be reached."""
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""Whoever reads standard output has closed it."""


class CommandError(Exception):
    """What ends a command: a sentence, its exit status, and what to type next, if anything."""

    def __init__(self, sentence: str, status: int = FAILED, advice: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.advice = _typed(advice) if advice else ""


def _typed(command: str) -> str:

    return typed(command)
