"""Determine the files that a bot's program needs besides its own and those of the system."""

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import arena
from arena.bots.bot import BRIDGE, Bot

SETTING: Final = "POKEARENA_RUNTIMES"
"""Environment variable with further readable folders, separated by colons.

It is for runtimes in unusual places.
"""
KIT: Final = ("pokearena", "pokearena_bot", "pokearena_server", "referee")
"""Python modules that a house bot may import: stubs, kit and the referee with the games."""
PACKAGE: Final = str(Path(arena.__file__).parent)
OF_BRIDGE: Final = ("__init__.py", "bots/__init__.py", "bots/stdio")
"""Files of the arena that make up the bridge of bots that read and write lines."""
OF_POLICIES: Final = ("__init__.py", "errors.py", "presentation")
"""Files of the arena that encode positions for bots with trained policies."""
PROGRAMS: Final = ("bin", "sbin")
SYSTEM: Final = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/etc/alternatives/")
LINKS: Final = 20
"""Maximum length of a chain of links that is followed."""


def readable(argv: Sequence[str]) -> list[str]:
    """Return paths readable for this command besides the bot's files: its runtime and the kit."""
    named = [path for path in os.environ.get(SETTING, "").split(":") if path]
    program, names = argv[0], [*OF_POLICIES]
    if argv[: len(BRIDGE)] == BRIDGE:
        program, names = argv[len(BRIDGE)], [*OF_POLICIES, *OF_BRIDGE]
    package = [f"{PACKAGE}/{name}" for name in names]
    paths = [*_python(), *_prefixes(program), *package, *named]
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def listed(argv: Sequence[str]) -> list[str]:
    """Return the folders in which Python searches modules of the kit and the arena.

    When installed, they are in the runtime; in a checkout they are beside other files.
    """
    folders = [*(os.path.dirname(path) for path in _kit()), PACKAGE]
    if argv[: len(BRIDGE)] == BRIDGE:
        folders.append(f"{PACKAGE}/bots")
    return list(dict.fromkeys(folders))


def toolchains() -> dict[str, str]:
    """Return toolchain folders in the home folder, by the environment variables that name them."""
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    return {"RUSTUP_HOME": rustup} if os.path.isdir(rustup) else {}


def own(bot: Bot) -> str:
    """Return the folder or file of the bot."""
    assert bot.folder is not None
    return str(bot.folder if bot.file is None else bot.folder / bot.file)


@cache
def _python() -> tuple[str, ...]:
    """Return the paths of the arena's Python and the kit: "python" in a manifest means this one."""
    prefixes = {*_prefixes(sys.executable), sys.prefix, sys.base_prefix}
    return tuple(sorted(path for path in {*prefixes, *_kit()} if not _is_system(path)))


def _kit() -> Iterator[str]:
    for module in KIT:
        spec = importlib.util.find_spec(module)
        if spec is not None and spec.origin is not None:
            yield (
                spec.origin
                if spec.submodule_search_locations is None
                else str(Path(spec.origin).parent)
            )
        elif spec is not None and spec.submodule_search_locations:
            yield from spec.submodule_search_locations


def _prefixes(program: str) -> Iterator[str]:
    """Yield the installation folders of the program and of each link on the way to it."""
    path = os.path.abspath(program)
    for _ in range(LINKS):
        if not _is_system(path):
            yield _prefix(path)
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    real = os.path.realpath(program)
    if not _is_system(real):
        yield _prefix(real)


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


def _is_system(path: str) -> bool:
    return f"{path}/".startswith(SYSTEM)
