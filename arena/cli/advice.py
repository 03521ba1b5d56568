"""What to type next, so that it works as it stands."""

import os
import shlex

import rich_click as click
from click.core import ParameterSource

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
