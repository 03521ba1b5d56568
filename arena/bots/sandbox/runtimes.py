"""Runtimes: the list of files outside of its own folder that a bot may read or run.

The list depends on the arena's machine and its organiser alone:

- Python of the arena, with the kit and the installed packages;
- the packages of allowed games, where they are installed elsewhere;
- the programs on the PATH of the arena's process, with their installation folders;
- the folders in ``POKEARENA_RUNTIMES``;
- the programs and libraries of the system (:mod:`arena.bots.sandbox.system_files`).

The command of a manifest selects entries of this list. Nothing is added to it because a file, a
link or a manifest of a bot names it. A path of the bot's folder is resolved by the kernel, which
refuses to leave the folder and to follow the links of ``/proc`` that lead anywhere.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import arena
from arena import config
from arena.bots.bot import BRIDGE, Bot
from arena.bots.manifest import STDIO
from arena.errors import BotError
from arena.system.beneath import open_beneath, real_path
from referee.games.game_packages import packaged_games
from referee.sanitizing import quote

SETTING: Final = "POKEARENA_RUNTIMES"
"""Environment variable with further readable folders, separated by colons."""
KIT: Final = ("pokearena", "pokearena_bot", "pokearena_server", "referee")
"""Python modules that a house bot may import: stubs, kit and the referee with the games."""
PACKAGE: Final = str(Path(arena.__file__).parent)
OF_BRIDGE: Final = ("__init__.py", "bots/__init__.py", "bots/stdio")
"""Files of the arena that make up the bridge of bots that read and write lines."""
OF_POLICIES: Final = ("__init__.py", "errors.py", "presentation")
"""Files of the arena that encode positions for bots with trained policies."""
PROGRAMS: Final = ("bin", "sbin")
SYSTEM: Final = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/")
PYTHON: Final = ("python", "python3")
VENV_PYTHON: Final = ".venv/" + ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
NOT_ALLOWED: Final = "program-not-allowed"
PATH_ONLY: Final = getattr(os, "O_PATH", os.O_RDONLY)
_MOST_LINKS: Final = 40
"""As the kernel's limit."""
LEADS_OUT: Final = frozenset({errno.EXDEV, errno.ELOOP, errno.EAGAIN})
"""Errors of a path that leaves the folder, follows links of /proc, or is renamed all the time."""
LINKS: Final = 20
"""Maximum length of a chain of links that is followed."""


@dataclass(frozen=True, slots=True)
class Grants:
    """The paths outside of its folder that a bot's command may read, and the command itself.

    Attributes:
        argv: the command; its first word is the path of the program, not resolved further.
        system: "/usr", or its parts if the data folder of the arena lies below it.
        read: paths of the list of runtimes that it may read and execute.
        listed: folders whose names it may list: Python searches the kit's modules in them.
        folder: the folder of the program on the list, if it is not one of the system. A compiler
            consists of several programs in one folder.
    """

    argv: tuple[str, ...]
    read: tuple[str, ...]
    system: tuple[str, ...] = ("/usr",)
    listed: tuple[str, ...] = ()
    folder: str = ""


def bot_grants(bot: Bot) -> Grants:
    """Return the grants of a hosted bot's run command.

    Raises:
        BotError: the bot is remote, its program does not exist, or it must not run it.
    """
    if bot.manifest is None or bot.folder is None:
        raise BotError(f"{bot.label} is a remote bot; there is nothing to run.")
    return grants(bot.folder, bot.manifest.run, bridge=bot.manifest.transport == STDIO)


def grants(folder: Path, words: tuple[str, ...], *, bridge: bool = False) -> Grants:
    """Return the grants of a command of a bot.

    Args:
        folder: the bot's folder.
        words: the command; its first word is the name of a program on the PATH, or a path.
            "python" is the one of the folder's ``.venv`` if it exists, else that of the arena.
        bridge: whether the command reads and writes lines, so that the arena's bridge starts it.

    Raises:
        BotError: the program is not on the PATH, or (code "program-not-allowed") it is neither in
            the bot's folder nor on the list of runtimes.
    """
    path, listed_program = _program(words[0], folder)
    runtime = _installation(listed_program) if listed_program else ()
    argv, names = (path, *words[1:]), [*OF_POLICIES]
    if bridge:
        argv, names = (*BRIDGE, *argv), [*OF_POLICIES, *OF_BRIDGE]
    package = [f"{PACKAGE}/{name}" for name in names]
    read = dict.fromkeys([*python_paths(), *runtime, *package, *_game_folders(), *_named()])
    listed = [*map(os.path.dirname, _kit()), PACKAGE, *([f"{PACKAGE}/bots"] if bridge else [])]
    return Grants(
        argv,
        tuple(part for entry in read if os.path.exists(entry) for part in _public(entry, folder)),
        tuple(_public("/usr", folder)),
        tuple(dict.fromkeys(listed)),
        os.path.dirname(listed_program),
    )


def check_program(bot: Bot) -> None:
    """Check that the run command of a hosted bot names a program that the bot may run.

    A program that does not exist is not an error: the build may create it, and another machine may
    have it.

    Raises:
        BotError: the program is neither in the bot's folder nor on the list of runtimes (code
            "program-not-allowed").
    """
    try:
        bot_grants(bot)
    except BotError as error:
        if error.code == NOT_ALLOWED:
            raise BotError(f"{bot.label} cannot be run: {error}.", code=NOT_ALLOWED) from None


def allowed() -> frozenset[str]:
    """Return every path that :func:`grants` can grant to any bot, apart from the system's."""
    programs = [
        os.path.join(folder, name)
        for folder in search_path()
        if not is_system(folder) and os.path.isdir(folder)
        for name in os.listdir(folder)
    ]
    package = [f"{PACKAGE}/{name}" for name in (*OF_POLICIES, *OF_BRIDGE)]
    installed = [path for program in programs for path in _installation(program)]
    return frozenset({*python_paths(), *package, *_game_folders(), *_named(), *installed})


def toolchains() -> dict[str, str]:
    """Return toolchain folders in the home folder, by the environment variables that name them."""
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    return {"RUSTUP_HOME": rustup} if os.path.isdir(rustup) else {}


def search_path() -> list[str]:
    """Return the folders of the arena's PATH; a relative one depends on where a command runs."""
    return [folder for folder in os.get_exec_path() if os.path.isabs(folder)]


def is_system(path: str) -> bool:
    """Return whether a path is among the system's programs and libraries."""
    return f"{path}/".startswith(SYSTEM)


def _program(name: str, folder: Path) -> tuple[str, str]:
    """Return the path of a command's program, and the program of the list that it leads to.

    The latter is empty for a program of the bot's folder, of the system, or that every bot may run.
    """
    if name in PYTHON:
        venv = folder / VENV_PYTHON
        return (
            (str(venv), _of_folder(VENV_PYTHON, folder)) if _exists(venv) else (sys.executable, "")
        )
    if os.path.isabs(name):
        inside = _below(name, str(folder))
        return name, _of_folder(inside, folder) if inside else _of_path(name, name)
    if "/" in name:
        return str(folder / name), _of_folder(name, folder)
    path = shutil.which(name, path=os.pathsep.join(search_path()))
    if path is None:
        hint = f'; for the file of this name in the folder write "./{name}"'
        raise BotError(
            f'the program "{quote(name)}" is not on the PATH of the arena'
            f"{hint if _exists(folder / name) else ''}"
        )
    path = _system_program(path)
    return path, "" if is_system(os.path.realpath(path)) else path


def _system_program(path: str) -> str:
    """Follow a link of the arena's PATH until it is among the system's programs, if it gets there.

    A bot sees the system but not the folder of the link. The last target is not taken at once:
    some programs behave by the name of the link that leads to them.
    """
    step = path
    for _ in range(_MOST_LINKS):
        if is_system(step):
            return step
        if not os.path.islink(step):
            break
        step = os.path.join(os.path.realpath(os.path.dirname(step)), os.readlink(step))
    return path


def _of_folder(name: str, folder: Path) -> str:
    """Return the program of the list to which a path in the bot's folder leads; empty if to none.

    A program that is missing or cannot be opened is not an error here: starting it fails.
    """
    try:
        os.close(open_beneath(folder, name, PATH_ONLY))
    except OSError as error:
        if error.errno in LEADS_OUT:
            return _of_path(str(folder / name), name)
    return ""


def _of_path(path: str, name: str) -> str:
    """Return the program of the list to which a path outside of the bot's folder leads.

    The path returned is that of the list: the text of a bot's path names no further files.

    Raises:
        BotError: the program is not on the list. The text is the same for a missing file, because
            a bot must not learn which files exist.
    """
    if sys.platform != "linux":
        # Without a sandbox only trusted bots run, and nothing is granted.
        return ""
    real = real_path(path)
    if real is not None:
        if is_system(real) or any(_below(real, entry) for entry in (*python_paths(), *_named())):
            return ""
        for program in _programs_named(os.path.basename(path), os.path.basename(real)):
            if os.path.realpath(program) == real:
                return program
    raise BotError(
        f'the program "{quote(name)}" is neither in the bot\'s folder nor a runtime of the arena; '
        "write a path inside of the folder or the name of a program on the PATH, or add its "
        f"folder to {SETTING}",
        code=NOT_ALLOWED,
    )


def _programs_named(*names: str) -> Iterator[str]:
    """Yield the programs of the PATH with one of these names, apart from the system's."""
    for folder in search_path():
        for name in names:
            path = os.path.join(folder, name)
            if not is_system(path) and os.access(path, os.X_OK):
                yield path


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _below(path: str, folder: str) -> str:
    """Return the rest of a path below a folder, "." for the folder itself; empty for others."""
    if path == folder:
        return "."
    prefix = f"{folder.rstrip('/')}/"
    return path.removeprefix(prefix) if path.startswith(prefix) else ""


def _named() -> tuple[str, ...]:
    """Return the folders that the organiser has named."""
    named = os.environ.get(SETTING, "").split(":")
    return tuple(os.path.abspath(f"/{path.strip('/')}") for path in named if os.path.isabs(path))


def _game_folders() -> tuple[str, ...]:
    """Return the folders of the games of allowed packages, apart from those of Python."""
    folders = {folder for game in packaged_games().values() for folder in game.folders}
    outside = (folder for folder in folders if not any(_below(folder, p) for p in python_paths()))
    return tuple(sorted(folder for folder in outside if not is_system(folder)))


@cache
def python_paths() -> tuple[str, ...]:
    """Return the paths of the arena's Python and the kit, apart from the system's."""
    prefixes = {*_installation(sys.executable), sys.prefix, sys.base_prefix}
    return tuple(sorted(path for path in {*prefixes, *_kit()} if not is_system(path)))


@cache
def _kit() -> tuple[str, ...]:
    return tuple(path for module in KIT for path in _module(module))


def _module(name: str) -> Iterable[str]:
    spec = importlib.util.find_spec(name)
    if spec is None:
        return ()
    if spec.submodule_search_locations is None:
        return () if spec.origin is None else (spec.origin,)
    return (
        spec.submodule_search_locations if spec.origin is None else (str(Path(spec.origin).parent),)
    )


@cache
def _installation(program: str) -> tuple[str, ...]:
    """Return the installation folders of a program of the arena and of each link on the way to it.

    The program is on the PATH or the arena's Python, so the links are those of the machine.
    """
    folders: dict[str, None] = {}
    path = os.path.abspath(program)
    for _ in range(LINKS):
        if not is_system(path):
            folders[_prefix(path)] = None
        if not os.path.islink(path):
            break
        # The kernel follows ".." of a link from the real folder.
        path = os.path.normpath(
            os.path.join(os.path.realpath(os.path.dirname(path)), os.readlink(path))
        )
    real = os.path.realpath(program)
    if not is_system(real):
        folders[_prefix(real)] = None
    return tuple(folders)


def _prefix(path: str) -> str:
    """Return the installation folder, /opt/node for /opt/node/bin/node, or else the file itself."""
    folder = os.path.dirname(path)
    root = os.path.dirname(folder)
    home = str(Path.home())
    if (
        os.path.basename(folder) in PROGRAMS
        and root not in ("/", home, f"{home}/.local")
        and os.path.isdir(f"{root}/lib")
    ):
        return root
    return path


def _public(path: str, folder: Path) -> Iterator[str]:
    """Yield a path, or its parts if the data folder of the arena lies below it."""
    data = config.locate().root
    yield from apart_from(path, (os.path.realpath(data), *_data_of(folder)))


def _data_of(folder: Path) -> tuple[str, ...]:
    """Return the data folder of a stored version, which lies in DATA/versions."""
    is_stored = folder.parent.name == config.VERSIONS
    return (os.path.realpath(folder.parent.parent),) if is_stored else ()


def apart_from(path: str, hidden: Iterable[str]) -> Iterator[str]:
    """Yield a path, or what is left of it without the hidden folders below it.

    Links in a folder that is taken apart are left out, because they may lead anywhere.
    """
    real = os.path.realpath(path)
    inner = [folder for folder in hidden if folder != real and _below(folder, real)]
    if not inner:
        yield path
        return
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        below = os.path.join(real, entry.name)
        if not entry.is_symlink() and below not in inner:
            yield from apart_from(os.path.join(path, entry.name), inner)
