"""The command `pokearena new`: write a starter bot into a new folder."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
from pathlib import Path
from typing import Final

import rich_click as click

from arena.bots import manifest
from arena.bots.bot import program
from arena.bots.resolver import house_folder
from arena.bots.version_store import FETCHED, IGNORED
from arena.cli import output
from arena.cli.errors import USAGE, CommandError
from arena.errors import BotError

# Starter kits: the files that `pokearena new` writes.


README: Final = "README.md"
_ALSO: Final = {"c++": "cpp", "golang": "go", "ts": "typescript", "sh": "shell"}
"""Aliases of the languages."""
_LEFT_OUT: Final = shutil.ignore_patterns(*IGNORED, *FETCHED, "*.pyc", "*.lock", "*-lock.json")
_KIT: Final = "pokearena_bot"
_GENERATED: Final = "pokearena.v1"
_OF_THE_ARENA: Final = ("referee", "relay")
_ROW: Final = re.compile(r"^\| (`.+`) \| (.+) \|$", re.MULTILINE)
_NEEDED: Final = re.compile(r"(Needed: .+)$", re.MULTILINE)


def languages() -> tuple[str, ...]:
    """Return the languages with a starter, sorted."""
    manifests = house_folder().parent.glob(f"*/{manifest.FILE}")
    return tuple(sorted(path.parent.name for path in manifests if (path.parent / README).exists()))


def write(folder: Path, language: str) -> str:
    """Write a starter into an empty or new folder; return the name of the bot.

    Raises:
        CommandError: the language has no starter, or the folder is not empty.
    """
    language = _ALSO.get(language, language)
    if language not in languages():
        raise CommandError(
            f'there is no starter for "{language}"; there is one for {", ".join(languages())}.',
            USAGE,
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} is not empty; name a new folder.")
    name = _name_for(folder)
    shutil.copytree(house_folder().parent / language, folder, ignore=_LEFT_OUT, dirs_exist_ok=True)
    if language == "python":
        _copy_installed(folder)
    _rename(folder, language, name)
    return name


def contents(folder: Path) -> list[tuple[str, str]]:
    """Return the files of a starter with their descriptions, from the table in its README."""
    text = (folder / README).read_text(encoding="utf-8")
    rows = [(names.replace("`", ""), what.replace("`", "")) for names, what in _ROW.findall(text)]
    return [*rows, (README, "how to play, test and submit it")]


def missing_programs(folder: Path) -> str:
    """Return a sentence that lists the missing programs of a starter; "" if it has all."""
    said = manifest.read(folder)
    missing = set()
    for command in (*said.build, said.run):
        try:
            program(command, folder)
        except BotError:
            missing.add(command[0])
    if not missing:
        return ""
    needed = _NEEDED.search((folder / README).read_text(encoding="utf-8"))
    advice = needed[1].replace("`", "") if needed else f"{folder / README} says what is needed."
    return f"There is no {' and no '.join(sorted(missing))} on the PATH yet. {advice}"


def _name_for(folder: Path) -> str:
    """Return a valid bot name derived from the folder's name."""
    name = re.sub(r"[^a-z0-9_-]+", "-", folder.absolute().name.lower()).strip("-")[:33]
    return name or "mybot"


def _rename(folder: Path, language: str, name: str) -> None:
    """Replace the bots' names, which contain the kit's language, by the folder's name."""
    for path in (*folder.glob("*.toml"), folder / README):
        text = path.read_text(encoding="utf-8")
        text = re.sub(rf"\brandom-{language}\b", name, text)
        text = re.sub(rf"\bgreedy-{language}\b", f"{name}-greedy", text)
        path.write_text(text, encoding="utf-8")


def _copy_installed(folder: Path) -> None:
    """Copy the Python kit from the installed package if it is not next to the starter."""
    kit = importlib.util.find_spec(_KIT)
    if not (folder / f"{_KIT}.py").exists() and kit is not None and kit.origin:
        shutil.copyfile(kit.origin, folder / f"{_KIT}.py")
    generated = importlib.util.find_spec(_GENERATED)
    target = folder / Path(*_GENERATED.split("."))
    if not target.exists() and generated is not None and generated.origin:
        target.mkdir(parents=True)
        for file in sorted(Path(generated.origin).parent.glob("*.py*")):
            if file.is_file() and not file.name.startswith(_OF_THE_ARENA):
                shutil.copyfile(file, target / file.name)


@click.command(epilog="Example: pokearena new mybot --lang go")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--lang",
    default="python",
    show_default=True,
    metavar="LANGUAGE",
    help="The bot's language: python, go, rust, typescript, java, cpp, ruby; c and shell without "
    "gRPC.",
)
def new(folder: Path, lang: str) -> None:
    """Write a starter bot into a new folder.

    It plays as it is, and works without this arena: beside a bot that plays every game at random
    there is a greedy one for one game, the kit that both stand on, and the protocol.
    """

    write(folder, lang.lower())
    there = [(f"{folder}/{names}", meaning) for names, meaning in contents(folder)]
    width = max(len(names) for names, _ in there)
    for names, meaning in there:
        output.line(f"{names:<{width}}  {meaning}")
    lack = missing_programs(folder)
    if lack:
        output.hint(lack)
    at = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    output.next_step(f"pokearena play poke {at} sample:random --watch")
