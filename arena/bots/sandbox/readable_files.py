"""Which files a bot may read besides its own and those of the system: what its program needs."""

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
"""Further folders that bots may read, separated by colons: runtimes in unusual places."""
KIT: Final = ("pokearena", "pokearena_bot", "referee")
"""Python modules that a bot of the house may import: stubs, kit, and what the games are about."""
PACKAGE: Final = str(Path(arena.__file__).parent)
OF_BRIDGE: Final = ("__init__.py", "bots/__init__.py", "bots/stdio")
"""Files of the arena that are the bridge of bots that read and write lines."""
PROGRAMS: Final = ("bin", "sbin")
SYSTEM: Final = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/etc/alternatives/")
LINKS: Final = 20
"""Links one after another that are followed."""


def readable(argv: Sequence[str]) -> list[str]:
    """What a bot run by this command may read besides its own files: its runtime, and the kit."""
    named = [path for path in os.environ.get(SETTING, "").split(":") if path]
    program, bridge = argv[0], []
    if argv[: len(BRIDGE)] == BRIDGE:
        program, bridge = argv[len(BRIDGE)], [f"{PACKAGE}/{name}" for name in OF_BRIDGE]
    paths = [*_python(), *_prefixes(program), *bridge, *named]
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def listed(argv: Sequence[str]) -> list[str]:
    """The folders in which Python looks for the modules of the kit and the bridge.

    Where they are installed they lie in the runtime; in a checkout beside other things.
    """
    folders = [os.path.dirname(path) for path in _kit()]
    if argv[: len(BRIDGE)] == BRIDGE:
        folders += [PACKAGE, f"{PACKAGE}/bots"]
    return list(dict.fromkeys(folders))


def toolchains() -> dict[str, str]:
    """Where compilers are that are kept in somebody's home, by the variables that tell of it."""
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    return {"RUSTUP_HOME": rustup} if os.path.isdir(rustup) else {}


def own(bot: Bot) -> str:
    """The folder or file that is the bot."""
    assert bot.folder is not None
    return str(bot.folder if bot.file is None else bot.folder / bot.file)


@cache
def _python() -> tuple[str, ...]:
    """The arena's own Python, since "python" in a manifest means it, and the kit."""
    prefixes = {*_prefixes(sys.executable), sys.prefix, sys.base_prefix}
    return tuple(sorted(path for path in {*prefixes, *_kit()} if not _is_system(path)))


def _kit() -> Iterator[str]:
    for module in KIT:
        found = importlib.util.find_spec(module)
        if found is not None and found.origin is not None:
            yield (
                found.origin
                if found.submodule_search_locations is None
                else str(Path(found.origin).parent)
            )
        elif found is not None and found.submodule_search_locations:
            yield from found.submodule_search_locations


def _prefixes(program: str) -> Iterator[str]:
    """Where the program, and each link on the way to it, is installed."""
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
    """/opt/node for /opt/node/bin/node; for a program elsewhere the file alone."""
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
