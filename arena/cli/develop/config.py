"""The command `pokearena config`: show the settings from files and environment variables."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import click as plain_click
import rich_click as click

from arena.cli import completers, config_file, output
from arena.cli.errors import usage_error
from arena.cli.options import json_option
from arena.cli.root import PREFIX, LazyCommand
from arena.config import (
    ANALYSIS,
    DATABASE,
    IN_FILE,
    OBJECT_STORAGE,
    REDIS,
    REFEREE,
    START_LIMIT_MS,
    VERSIONS_MIB,
    WATCH_MS,
    WATCH_NOTES,
)
from referee.games.game_packages import SETTING

_PASSWORD: Final = re.compile(r"(?<=://)\S*(?=@)")
_HIDDEN: Final = "***"
_TOKEN: Final = "POKEARENA_TOKEN"
_VARIABLES: Final = (
    *DATABASE,
    *REDIS,
    *OBJECT_STORAGE,
    REFEREE,
    START_LIMIT_MS,
    WATCH_MS,
    WATCH_NOTES,
    ANALYSIS,
    VERSIONS_MIB,
    _TOKEN,
    SETTING,
    "POKEARENA_LOG",
    "POKEARENA_LOG_TO",
    "POKEARENA_SANDBOX",
    "POKEARENA_RUNTIMES",
    "POKEARENA_BUILD_NETWORK",
)
"""Settings that are not options; only environment variables set them."""


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting and its source.

    Attributes:
        command: the words of its command, such as "tournament run"; empty for every command.
        name: the key of its option, or the variable of a setting that is not an option.
        value: its value; "***" for a secret.
        source: "variable", "project file", "user file" or "default".
        variable: the environment variable that sets it.
        file: the path of the file that sets it.
        line: the number of the line in this file, from 1.
    """

    command: str
    name: str
    value: object
    source: str
    variable: str | None = None
    file: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        """Return the place at which a user can change it."""
        return self.variable or (f"{self.file}:{self.line}" if self.file else self.source)


@click.command(
    epilog="Example: pokearena config prints the settings in force; pokearena config play prints "
    "all options of play."
)
@click.argument("command", nargs=-1, metavar="[COMMAND]...", shell_complete=completers.commands)
@json_option
def config(command: tuple[str, ...], as_json: bool) -> None:
    """Show the settings from configuration files and environment variables, with their sources.

    With a COMMAND, for example tournament run, all options of this command are shown, including
    those at their defaults. All files are checked completely. Tokens and passwords are not shown.
    docs/reference/configuration.md describes the files.
    """
    context = click.get_current_context()
    assert context is not None
    root = context.find_root().command
    assert isinstance(root, plain_click.Group)
    files = config_file.read_files(root.commands)
    members = {word: _loaded(member) for word, member in root.commands.items()}
    leaves = [leaf for word, member in members.items() for leaf in _leaves((word,), member)]
    # Checks the files completely, also for the commands that are not shown.
    from_files: dict[tuple[str, ...], config_file.FileSetting] = {}
    for word, member in members.items():
        from_files |= config_file.settings(files, (word,), member)
    if command:
        leaves = [(path, leaf) for path, leaf in leaves if path[: len(command)] == command]
        if not leaves:
            raise usage_error(
                f"unknown command {' '.join(command)}.", "unknown", advice="pokearena --help"
            )
    shown = [] if command else [*_variables(), *_game_packages(files)]
    trusted = {file.path for file in files if file.trusted}
    for path, leaf in leaves:
        shown += _of_command(path, leaf, from_files, trusted, defaults=bool(command))
    shown = shown if command else _once(shown)
    if as_json:
        paths = [str(file.path) for file in files]
        output.document({"files": paths, "settings": [asdict(setting) for setting in shown]})
        return
    _print(shown, files)


def _print(shown: list[SettingInForce], files: list[config_file.ConfigFile]) -> None:
    if shown:
        rows = [(row.command or "all", row.name, _text(row.value), row.place) for row in shown]
        output.table(("command", "setting", "value", "source"), rows, left=4)
    else:
        output.line("all settings have their defaults")
    for file in files:
        output.hint(f"read {file.path}")
    if os.environ.get(config_file.VARIABLE) == "":
        output.hint(f"{config_file.VARIABLE} is empty, so no file is read")
    elif not files:
        output.hint(f"no {config_file.PROJECT_FILE} and no {config_file.user_file()}")
    output.next_step("pokearena config play")


def _text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _loaded(command: plain_click.Command) -> plain_click.Command:
    return command.load() if isinstance(command, LazyCommand) else command


def _leaves(
    path: tuple[str, ...], command: plain_click.Command
) -> Iterator[tuple[tuple[str, ...], plain_click.Command]]:
    if not isinstance(command, plain_click.Group):
        yield path, command
        return
    for word, member in command.commands.items():
        yield from _leaves((*path, word), member)


def _variables() -> Iterator[SettingInForce]:
    for name in _VARIABLES:
        for variable in (name, name + IN_FILE):
            if value := os.environ.get(variable):
                shown = _HIDDEN if variable == _TOKEN else _redacted(value)
                yield SettingInForce("", variable, shown, "variable", variable)


def _game_packages(files: list[config_file.ConfigFile]) -> Iterator[SettingInForce]:
    file = config_file.allowed_packages(files)
    if file is not None and SETTING not in os.environ:
        key = config_file.GAMES
        place = (str(file.path), file.document.line(key))
        yield SettingInForce("", key, file.document.values[key], "user file", None, *place)


def _of_command(
    path: tuple[str, ...],
    command: plain_click.Command,
    from_files: dict[tuple[str, ...], config_file.FileSetting],
    trusted: set[Path],
    *,
    defaults: bool,
) -> Iterator[SettingInForce]:
    context = plain_click.Context(command)
    for key, option in config_file.options_of(command).items():
        usual = "_".join((PREFIX, *path, str(option.name))).replace("-", "_").upper()
        variable = option.envvar if isinstance(option.envvar, str) else usual
        secret = key in config_file.SECRET
        words = " ".join(path)
        if value := os.environ.get(variable):
            shown = _HIDDEN if secret else _redacted(value)
            yield SettingInForce(words, key, shown, "variable", variable)
        elif setting := from_files.get((*path, key)):
            shown = _HIDDEN if secret else _redacted(setting.value)
            source = "user file" if setting.file in trusted else "project file"
            file = str(setting.file)
            yield SettingInForce(words, key, shown, source, None, file, setting.line)
        elif defaults:
            default = None if callable(option.default) else option.get_default(context)
            shown = default if isinstance(default, (bool, int, float, str)) else None
            yield SettingInForce(words, key, shown, "default")


def _once(settings: list[SettingInForce]) -> list[SettingInForce]:
    """Return the settings with one that is shared by all commands only once."""
    rows = Counter((row.name, row.place) for row in settings)
    merged: dict[tuple[str, str, str], SettingInForce] = {}
    for row in settings:
        if row.name == config_file.SHARED and rows[row.name, row.place] > 1:
            row = replace(row, command="")
        merged.setdefault((row.command, row.name, row.place), row)
    return list(merged.values())


def _redacted(value: object) -> object:
    """Return a value without the passwords in its URLs."""
    if isinstance(value, list):
        return [_redacted(part) for part in value]
    return _PASSWORD.sub(_HIDDEN, value) if isinstance(value, str) else value
