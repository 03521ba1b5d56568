"""The error that ends a command, the exit statuses, and the suggested next command."""

import os
import shlex
from collections.abc import Collection
from typing import Final

import rich_click as click
from click.core import ParameterSource

UV_RUN = "UV_RUN_RECURSION_DEPTH"
"""Variable that `uv run` sets for its command, which is then not on the user's PATH."""
OK: Final = 0
FAILED: Final = 1
"""The requested operation failed: a bot faulted, or a record is not correct."""
USAGE: Final = 2
"""Invalid request: an unknown option, game, bot or match."""
UNREACHABLE: Final = 3
"""Redis, the database, a referee or a bot cannot be reached."""
INCOMPLETE: Final = 4
"""Nothing failed, but at least one check could not be made."""
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""The reader of standard output has closed it."""


def typed(command: str) -> str:
    """Return a command as the user must type it.

    Adds `uv run` and --data if the current command was run with them.
    """
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


def source_of(parameter: str) -> str:
    """Return what has set a parameter of the current command, as the user knows it.

    Returns:
        The environment variable that contains the value, else the longest flag of an option or the
        name of an argument.
    """
    context = click.get_current_context()
    assert context is not None
    return name_of(context, next(p for p in context.command.params if p.name == parameter))


def name_of(context: click.Context | None, parameter: click.Parameter) -> str:
    """Return the environment variable that has set a parameter, else its flag or name."""
    if not isinstance(parameter, click.Option):
        return parameter.human_readable_name
    name = parameter.name or ""
    from_environment = context is not None and (
        context.get_parameter_source(name) is ParameterSource.ENVIRONMENT
    )
    if from_environment and isinstance(parameter.envvar, str):
        return parameter.envvar
    return max(parameter.opts, key=len)


class CommandError(Exception):
    """Ends a command with a sentence and an exit status.

    Args:
        sentence: the error, its place, and what to do.
        status: the exit status.
        advice: the suggested next command, if any.
        code: a stable name of the error for programs and tests; the sentence may change.
    """

    def __init__(
        self, sentence: str, status: int = FAILED, advice: str = "", *, code: str = ""
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.advice = typed(advice) if advice else ""
        self.code = code


def unique_id(what: str, name: str, prefix: str, fitting: Collection[str], advice: str) -> str:
    """Return the id that a prefix names: itself, or the only id that begins with it."""
    if prefix in fitting:
        return prefix
    if not fitting:
        raise usage_error(f"unknown {what} {name}; {advice}", f"unknown-{what}")
    if len(fitting) > 1:
        examples = ", ".join(sorted(fitting)[:5])
        sentence = f"several begin with {name}: {examples}; type more of the id."
        raise usage_error(sentence, "ambiguous")
    return next(iter(fitting))


def usage_error(sentence: str, code: str = "", advice: str = "") -> CommandError:
    """Return the error of an invalid request, with the arguments of CommandError."""
    return CommandError(sentence, USAGE, advice, code=code)
