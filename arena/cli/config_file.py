"""Defaults of options from configuration files (docs/reference/configuration.md).

`pokearena.toml` of a project, and `config.toml` in the user's configuration folder, have a table
for each command and a key for each of its options. A project file can come with somebody else's
folder, so it cannot set every option (docs/decisions/2026-11-23-configuration-files.md).
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from arena.cli.errors import CommandError
from arena.system.process_info import user_id

if TYPE_CHECKING:
    from arena.system.structured_file import TomlDocument

PROJECT_FILE: Final = "pokearena.toml"
VARIABLE: Final = "POKEARENA_CONFIG"
"""Names the only file to read; an empty value means none."""
SHARED: Final = "data"
"""The option that a file can set for all commands, above its tables."""
GAMES: Final = "games"
"""The key with the packages whose games are allowed, above the tables of a trusted file."""
SECRET: Final = frozenset(("token",))
"""Options whose values are not shown."""
USER_ONLY: Final = frozenset(
    (
        # Addresses at which other machines reach this one, and trust in what they send.
        "address",
        "agents",
        "approve-pushes",
        "behind-proxy",
        "host",
        "listen",
        "metrics",
        "play",
        "relay",
        "relay-cert",
        "relay-key",
        "relay-workers",
        # Servers that receive the user's token and bots, and the certificates to trust.
        "at",
        "ca",
        "in",
        "remote",
        "to",
        "token",
        # Requests to private addresses, and links to other servers.
        "allow-private",
        "site",
        # Adds private texts to a file that may be published.
        "reasoning",
        # Delete without a question.
        "restart",
        "unknown",
        "yes",
        # Runs code that a file contains, or lowers the protection from other code.
        "policy",
        "sandbox",
        "network",
    )
)
"""Options that a project file cannot set."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A configuration file with valid names of commands.

    Attributes:
        path: its absolute path.
        trusted: whether the user has chosen it; a project file is found by the current folder.
        document: its content.
    """

    path: Path
    trusted: bool
    document: TomlDocument


@dataclass(frozen=True, slots=True)
class FileSetting:
    """A valid setting of a configuration file: a value for click, with absolute paths."""

    option: click.Option
    value: object
    file: Path
    line: int


def key_of(option: click.Option) -> str:
    """Return the key of an option: its longest flag without dashes, such as "relay-wait"."""
    return max(option.opts, key=len).lstrip("-")


def options_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by their keys, without those that only print and exit."""
    return {
        key_of(option): option
        for option in command.params
        if isinstance(option, click.Option) and not option.is_eager
    }


def user_file() -> Path:
    """Return the path of the user's file, which need not exist."""
    # The specification of XDG requires that a relative path is ignored.
    named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    folder = named if named.is_absolute() else Path("~/.config").expanduser()
    return folder / "pokearena" / "config.toml"


def read_files(commands: Mapping[str, click.Command]) -> list[ConfigFile]:
    """Read the files in force, the most specific first; tables are named after `commands`.

    Raises:
        FileError: a file cannot be read, or has a table of an unknown command.
    """
    named = os.environ.get(VARIABLE)
    if named is not None:
        chosen = [(Path(named).absolute(), True)] if named else []
    else:
        project, user = _project_file(), user_file()
        chosen = [(project, False)] if project else []
        if user.is_file() and user != project:
            chosen.append((user, True))
    return [_read(path, trusted, commands) for path, trusted in chosen]


def _project_file() -> Path | None:
    """Return the nearest project file, from the current folder upwards."""
    try:
        current = Path.cwd()
    except OSError:
        return None
    for folder in (current, *current.parents):
        file = folder / PROJECT_FILE
        try:
            status = file.stat()
        except OSError:
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        # Windows has neither owners nor modes of this kind.
        is_private = status.st_uid in (user_id(), 0) and not status.st_mode & stat.S_IWOTH
        if is_private or sys.platform == "win32":
            return file
        from arena.cli import output

        output.warn(f"{file} is ignored: another user owns it or can write it.")
        return None
    return None


def _read(path: Path, trusted: bool, commands: Mapping[str, click.Command]) -> ConfigFile:
    from arena.system.structured_file import parse_toml

    file = ConfigFile(path, trusted, parse_toml(path))
    for key, value in file.document.values.items():
        if key not in commands and key not in (SHARED, GAMES):
            raise file.document.unknown_key((key,), sorted((*commands, GAMES, SHARED)))
        if key in commands:
            _check_table(file, (key,), value)
    if GAMES in file.document.values:
        _check_packages(file)
    return file


def _check_packages(file: ConfigFile) -> None:
    """Check the names of the packages whose games are allowed.

    The code of a package is not sandboxed, so a project file cannot allow one.
    """
    if not file.trusted:
        raise file.document.invalid(
            (GAMES,),
            f"cannot be set by a project file; set it in {user_file()} or by its environment "
            "variable.",
        )
    file.document.check_type((GAMES,), file.document.values[GAMES], list[str])


def allowed_packages(files: list[ConfigFile]) -> ConfigFile | None:
    """Return the file that names the packages whose games are allowed, if one does."""
    return next((file for file in files if GAMES in file.document.values), None)


def settings(
    files: list[ConfigFile], path: tuple[str, ...], command: click.Command
) -> dict[tuple[str, ...], FileSetting]:
    """Return the settings for a command and its members; of several files, that of the first.

    `path` has the words that call the command, such as ("tournament", "run").

    Returns:
        Settings by the words that call the command, and the key.

    Raises:
        FileError: a key or a value is not valid.
    """
    merged: dict[tuple[str, ...], FileSetting] = {}
    for file in files:
        table: Any = file.document.values
        for word in path:
            table = table.get(word, {})
        in_file = dict(_settings(file, path, table, command))
        merged = {**in_file, **merged}
    return merged


def default_map(
    files: list[ConfigFile], path: tuple[str, ...], command: click.Command
) -> dict[str, Any]:
    """Return the settings for a command in the form of `click.Context.default_map`.

    Raises:
        FileError: a key or a value is not valid.
    """
    defaults: dict[str, Any] = {}
    for (*words, _), setting in settings(files, path, command).items():
        table = defaults
        for word in words[len(path) :]:
            table = table.setdefault(word, {})
        assert setting.option.name is not None
        table[setting.option.name] = setting.value
    return defaults


def _settings(
    file: ConfigFile, path: tuple[str, ...], table: Mapping[str, object], command: click.Command
) -> Iterator[tuple[tuple[str, ...], FileSetting]]:
    if isinstance(command, click.Group):
        for word, value in table.items():
            if word not in command.commands:
                raise file.document.unknown_key((*path, word), sorted(command.commands))
            _check_table(file, (*path, word), value)
        for word, member in command.commands.items():
            inner: Any = table.get(word, {})
            yield from _settings(file, (*path, word), inner, member)
        return
    options = options_of(command)
    for key, value in table.items():
        if key not in options:
            raise file.document.unknown_key((*path, key), sorted(options))
        yield (*path, key), _setting(file, (*path, key), value, options[key], command)
    shared = file.document.values.get(SHARED)
    if shared is not None and SHARED in options and SHARED not in table:
        yield (*path, SHARED), _setting(file, (SHARED,), shared, options[SHARED], command)


def _check_table(file: ConfigFile, keys: tuple[str, ...], value: object) -> None:
    if not isinstance(value, dict):
        raise file.document.invalid(keys, f"must be a table of options: [{'.'.join(keys)}].")


def _setting(
    file: ConfigFile,
    keys: tuple[str, ...],
    value: object,
    option: click.Option,
    command: click.Command,
) -> FileSetting:
    if not file.trusted and key_of(option) in USER_ONLY:
        raise file.document.invalid(
            keys,
            f"cannot be set by a project file; set it in {user_file()}, by its environment "
            "variable, or on the command line.",
        )
    context = click.Context(command)
    if option.multiple or option.nargs != 1:
        if not isinstance(value, list):
            raise file.document.invalid(keys, "must be a list.")
        if option.nargs != 1 and len(value) != option.nargs:
            raise file.document.invalid(keys, f"must be a list of {option.nargs} values.")
        checked: object = [_checked(file, keys, part, option, context) for part in value]
    else:
        checked = _checked(file, keys, value, option, context)
    return FileSetting(option, checked, file.path, file.document.line(*keys) or 1)


def _checked(
    file: ConfigFile,
    keys: tuple[str, ...],
    value: Any,
    option: click.Option,
    context: click.Context,
) -> object:
    """Return a value that click will accept for the option."""
    kind = option.type
    file.document.check_type(keys, value, _type_of(kind))
    if _type_of(kind) not in (bool, int, float):
        value = str(value)
    if isinstance(kind, click.Path):
        value = str(file.path.parent / Path(value).expanduser())
        if not file.trusted and not _is_inside(Path(value), file.path.parent):
            raise file.document.invalid(keys, f"must be a path inside {file.path.parent}.")
    try:
        converted = kind.convert(value, option, context)
        if option.callback is not None:
            option.callback(context, option, converted)
    except click.UsageError as error:
        raise file.document.invalid(keys, f"is not valid: {error.message}") from None
    except CommandError as error:
        raise file.document.invalid(keys, f"is not valid: {error}") from None
    return value


def _type_of(kind: click.ParamType[Any]) -> Any:
    """Return the type that a value in a file must have."""
    types = (click.BOOL, bool), (click.INT, int), (click.FLOAT, float)
    for parameter, python in types:
        if isinstance(kind, type(parameter)):
            return python
    # A seed or a version is a text that can look like a number.
    return str | int | float


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
