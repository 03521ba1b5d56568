"""What to type next, so that it works as it stands."""

import shlex

import rich_click as click
from click.core import ParameterSource


def typed(command: str) -> str:
    """The command with the --data that this one was given, if it was given one."""
    context = click.get_current_context(silent=True)
    if context is None or context.get_parameter_source("data") is not ParameterSource.COMMANDLINE:
        return command
    takes_it = command.startswith("pokearena ") and not command.startswith("pokearena new ")
    if not takes_it or command.endswith("--help") or " --data " in command:
        return command
    return f"{command} --data {shlex.quote(str(context.params['data']))}"
