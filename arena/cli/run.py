"""Run a command line, and convert exceptions into a sentence and an exit status."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rich_click as click
from click.exceptions import Exit, NoArgsIsHelpError, NoSuchCommand

from arena.cli.errors import (
    BROKEN_PIPE,
    FAILED,
    INTERRUPTED,
    OK,
    UNREACHABLE,
    USAGE,
    CommandError,
    name_of,
    typed,
)
from arena.cli.root import LazyCommand, pokearena

_NAME = "pokearena"
_COMPLETE = "_POKEARENA_COMPLETE"
_SIMILARITY = 0.75
"""Minimum similarity, from 0 to 1, of an option suggested instead of an unknown one."""
# By name, so that a library is not imported only to check for its exceptions.
_STATUS = {
    "arena.errors.BotAbsent": UNREACHABLE,
    "arena.errors.BotError": FAILED,
    "arena.errors.InfrastructureError": UNREACHABLE,
    "arena.config.SettingError": USAGE,
    "arena.services.queue.redis_server.RedisUnavailable": UNREACHABLE,
    "arena.errors.BadName": USAGE,
    "arena.errors.InvalidSettings": USAGE,
    "arena.errors.NotFound": USAGE,
    "arena.errors.OutOfRange": USAGE,
    "arena.errors.StoreError": FAILED,
    "arena.errors.Unnamed": USAGE,
    "arena.errors.Unreachable": UNREACHABLE,
    "arena.ratings.strength.kept_strengths.TooManyEntrants": FAILED,
    "arena.services.service.ServicesError": UNREACHABLE,
    "arena.services.worker_process.NoServices": UNREACHABLE,
    "arena.system.structured_file.FileError": USAGE,
    "arena.tournaments.tournament_request.TournamentFileError": USAGE,
    "redis.exceptions.RedisError": UNREACHABLE,
    "referee.games.contract.SetupError": USAGE,
    "referee.record.RecordError": FAILED,
    "referee.replay.Mismatch": FAILED,
    "sqlalchemy.exc.DBAPIError": UNREACHABLE,
}


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """How a command ended: its exit status, and the error that it has printed, if any."""

    status: int
    error: BaseException | None = None


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status."""
    return execute(argv).status


def execute(argv: Sequence[str] | None = None) -> CommandOutcome:
    """Run a command line, print its error if it fails, and return how it ended.

    Exceptions that are caused neither by the user nor by the environment are defects and propagate.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode shows "?" instead of raising an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    instruction = os.environ.get(_COMPLETE)
    if instruction:
        from arena.cli.develop import completion

        return CommandOutcome(completion.respond(pokearena, instruction))
    try:
        outcome = _invoke(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe; redirect it so that Python's exit does not report an
        # error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CommandOutcome(BROKEN_PIPE)
    return outcome


def _invoke(words: list[str]) -> CommandOutcome:
    # The `main` of click would format some errors in its own way.
    try:
        with pokearena.make_context(_NAME, words) as context:
            status = pokearena.invoke(context)
    except Exit as ended:
        return CommandOutcome(ended.exit_code)
    except SystemExit as ended:
        # Raised by SIGTERM while services ran, or by a help page whose pipe was closed.
        return CommandOutcome(ended.code if isinstance(ended.code, int) else FAILED)
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        return CommandOutcome(_explain(error, words), error)
    return CommandOutcome(status if isinstance(status, int) else OK)


def _explain(error: BaseException, words: Sequence[str]) -> int:
    """Print the error and return the exit status; raise it again if it is unknown."""
    if isinstance(error, NoArgsIsHelpError):
        print(error.format_message())
        return USAGE
    sentence, status, advice = _described(error, words)
    if _asks_for_json(words):
        _print_json_error(error, sentence, status, advice)
    else:
        _print_error(sentence, status, advice)
    return status


def _described(error: BaseException, words: Sequence[str]) -> tuple[str, int, str]:
    """Return the sentence, exit status and advice of an error; raise it again if it is unknown."""
    match error:
        case click.UsageError():
            path, _ = _called_command(words)
            command = error.ctx.command_path if error.ctx else " ".join((_NAME, *path))
            return _usage_sentence(error), USAGE, f"{command} --help"
        case click.ClickException():
            return error.format_message(), error.exit_code, ""
        case KeyboardInterrupt() | click.Abort():
            return "interrupted", INTERRUPTED, ""
        case CommandError():
            return str(error), error.status, error.advice
        case OSError():
            return _of_the_system(error), FAILED, ""
    for kind in type(error).__mro__:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name in _STATUS:
            return _sentence(error), _STATUS[name], ""
    raise error


def _asks_for_json(words: Sequence[str]) -> bool:
    """Return whether --json is set: on the command line, by its variable or in a file."""
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options or _has_json_by_default(words)


def _has_json_by_default(words: Sequence[str]) -> bool:
    """Return whether the variable of --json or a configuration file sets it for the command."""
    from arena.cli import config_file
    from arena.system.structured_file import FileError

    path, command = _called_command(words)
    option = config_file.options_of(command).get("json")
    if option is None:
        return False
    context = click.Context(command)
    with contextlib.suppress(FileError):  # The error of a faulty file is printed as text.
        files = config_file.read_files(pokearena.commands)
        context.default_map = config_file.default_map(files, path, command)
    try:
        value, _ = option.consume_value(context, {})
        return bool(option.type_cast_value(context, value))
    except click.UsageError:
        return False


def _print_json_error(error: BaseException, sentence: str, status: int, advice: str) -> None:
    """Print an error as one line of JSON on standard error, after lines of progress."""
    from referee.games.shared.coded_errors import CodedError
    from referee.sanitizing import escaped_json

    code = error.code if isinstance(error, CodedError | CommandError) else ""
    # An error without a code is named by its class: NotFound is "not-found".
    code = code or re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()
    content = {"error": sentence, "code": code, "status": status}
    if advice:
        content["next"] = typed(advice)
    sys.stdout.flush()
    line = escaped_json(json.dumps(content, ensure_ascii=False))
    print(line, file=sys.stderr, flush=True)


def _called_command(words: Sequence[str]) -> tuple[tuple[str, ...], click.Command]:
    """Return the command that the words call, after its path: ("tournament", "run")."""
    path = []
    command: click.Command = pokearena
    for word in words:
        if not isinstance(command, click.Group) or word not in command.commands:
            break
        path.append(word)
        member = command.commands[word]
        command = member.load() if isinstance(member, LazyCommand) else member
    return tuple(path), command


def _usage_sentence(error: click.UsageError) -> str:
    """Return an error of click in the form of the arena's own errors."""
    match error:
        case click.NoSuchOption():
            # Click also suggests options that have little in common with the given one.
            return f"unknown option {error.option_name}" + _similar(
                error.option_name, error.possibilities or ()
            )
        case NoSuchCommand():
            return f'unknown command "{error.command_name}"' + _similar(
                error.command_name, error.possibilities or ()
            )
        case click.MissingParameter(param=click.Parameter() as parameter):
            kind = parameter.type
            choices = (
                f", one of {', '.join(kind.choices)}" if isinstance(kind, click.Choice) else ""
            )
            return f"missing {parameter.param_type_name} {name_of(error.ctx, parameter)}{choices}."
        case click.BadParameter(param=click.Parameter() as parameter):
            name = name_of(error.ctx, parameter)
            return f"{name}: {_invalid_value(error.message, parameter.type)}"
    return _without_capital(error.format_message())


def _similar(word: str, possibilities: Iterable[str]) -> str:
    """Return the suggestion of a similar word; it ends the sentence."""
    from difflib import get_close_matches  # Slow to import, and rarely needed.

    close = get_close_matches(word, possibilities, 1, _SIMILARITY)
    return f"; did you mean {close[0]}?" if close else "."


def _invalid_value(message: str, kind: click.ParamType[Any]) -> str:
    """Return why a value is not valid; for numbers and choices with the allowed values."""
    value, _, _ = message.partition(" is not ")
    value = value.strip("'")
    if isinstance(kind, (click.IntRange, click.FloatRange)) and value != message:
        number = "a whole number" if isinstance(kind, click.IntRange) else "a number"
        least, most = (f"{bound:,}" if bound is not None else "" for bound in (kind.min, kind.max))
        bounds = f" from {least} to {most}" if most else f" of at least {least}"
        return f'"{value}" is not {number}{bounds}.'
    if kind in (click.INT, click.FLOAT) and value != message:
        return f'"{value}" is not {"a whole number" if kind is click.INT else "a number"}.'
    if isinstance(kind, click.Choice) and value != message:
        return f'"{value}" is not one of {", ".join(kind.choices)}.'
    return _without_capital(message)


def _without_capital(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _print_error(sentence: str, status: int, advice: str) -> None:
    from arena.cli import output

    if status == INTERRUPTED:
        output.hint(sentence)
    else:
        output.complain(sentence)
    if advice:
        output.next_step(advice)


def _sentence(error: BaseException) -> str:
    """Return the error's text; for database drivers, without the SQL statement."""
    original = getattr(error, "orig", None)
    return str(original) if original is not None else str(error)


def _of_the_system(error: OSError) -> str:
    """Return what failed and where; if a folder is missing, which."""
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
        folder = Path(error.filename).parent
        if not folder.exists():
            return f"{error.filename}: the folder {folder} does not exist."
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
