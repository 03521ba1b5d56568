"""Resolve a bot given by the user to the bot itself.

Accepted forms:

sample:greedy              a house bot that comes with the arena
sample:GAME-NAME           a house bot in the folder `house/NAME` of the package of a game
./mybot                    a folder with a bot.toml
./mybot/greedy.toml        another manifest in that folder
./bot.py, ./mybot/bot      a Python file, an executable
grpc://host:port           a bot that runs on another machine
unix:/path.sock            a bot that already runs on this machine
mybot@2, mybot             a version in the arena's store; the newest one
"""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import arena
from arena.bots import manifest
from arena.bots.bot import HUMAN, Bot
from arena.bots.manifest import Manifest
from arena.errors import BotError, nearest
from referee.games.game_packages import BUILT_IN, packaged_games

SAMPLE: Final = "sample:"
GRPC: Final = "grpc://"
UNIX: Final = "unix:"
TOML: Final = ".toml"
_HOST_AND_PORT: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})")

Lookup = Callable[[str, str | None], Bot | None]
"""Finds a stored bot by name and version (None: the newest); None if it does not exist."""
Known = Callable[[], Iterable[str]]
"""Lists all stored versions as "name@version"."""


def resolve(text: str, lookup: Lookup | None = None, known: Known | None = None) -> Bot:
    """Resolve `text` to a bot.

    Args:
        text: one of the forms in the module's docstring.
        lookup: finds stored bots; without it stored bots cannot be resolved.
        known: lists the stored versions, for suggestions in the error message.

    Raises:
        BotError: `text` does not resolve to a bot; the message suggests a correction.
    """
    if not text.strip():
        raise BotError(
            'the name of a bot is empty; write "." for the bot in the current folder.',
            code="unknown-bot",
        )
    if text == HUMAN:
        raise BotError(
            f'"{HUMAN}" is a person at the table, who can play only in `pokearena play` and is '
            f"never rated; write ./{HUMAN} for a folder or {HUMAN}@VERSION for a stored version."
        )
    if text.startswith(SAMPLE):
        return sample(text.removeprefix(SAMPLE))
    if text.startswith(GRPC):
        return _network_bot(text)
    if text.startswith(UNIX):
        return _socket_bot(text)
    path = Path(text).expanduser()
    is_plain = "/" not in text
    stored = None
    if is_plain and lookup is not None and not _is_bot(path):
        name, at, version = text.partition("@")
        stored = lookup(name, version if at else None)
    if stored is not None:
        return stored
    if path.exists() and not (is_plain and "@" in text):
        return local(path)
    raise _unknown(text, known)


def sample(name: str) -> Bot:
    """Return the house bot of this name.

    Raises:
        BotError: the name is unknown.
    """
    folders = sample_folders()
    if name not in folders:
        hint = nearest(name, folders) or f"; available: {_listed(folders)}."
        raise BotError(f'unknown sample bot "{name}"{hint}', code="unknown-bot")
    return from_folder(folders[name], label=name)


def samples() -> tuple[str, ...]:
    """List the names of the house bots, sorted."""
    return tuple(sample_folders())


def sample_folders() -> dict[str, Path]:
    """Return the folders of the house bots by name, those of the packages of games included."""
    folders = _bots_in(house_folder())
    for game in packaged_games().values():
        for folder in game.folders:
            bots = _bots_in(Path(folder) / "house")
            folders |= {f"{game.id}-{name}": bot for name, bot in bots.items()}
    return dict(sorted(folders.items()))


def usual_opponent(game: str) -> str:
    """Return the house bot that commands suggest as the opponent in a game."""
    of_package = (name for name in sample_folders() if name.startswith(f"{game}-"))
    return SAMPLE + ("greedy" if game in BUILT_IN else next(of_package, "meek"))


def usual_opponents(game: str, number: int) -> list[str]:
    """Return up to this number of different house bots that play a game.

    A tournament takes each bot once. The bots of every game are `random` and `meek`.
    """
    bots = (usual_opponent(game), f"{SAMPLE}random", f"{SAMPLE}meek")
    return list(dict.fromkeys(bots))[:number]


def _bots_in(folder: Path) -> dict[str, Path]:
    return {path.parent.name: path.parent for path in folder.glob(f"*/{manifest.FILE}")}


def house_folder() -> Path:
    """Return the folder of the house bots: in the repository, or in the installed package."""
    package = Path(arena.__file__).parent
    checkout = package.parent / "sample_bots" / "house"
    return checkout if checkout.is_dir() else package / "sample_bots" / "house"


def local(path: Path) -> Bot:
    """Return the bot of a folder, a manifest, a Python file or an executable.

    Raises:
        BotError: the path is of another kind, or its manifest is not valid.
    """
    path = path.resolve()
    if path.is_dir():
        return from_folder(path)
    if path.suffix == TOML and path.is_file():
        return from_folder(path.parent, file=path.name)
    if path.suffix == ".py":
        return _from_file(path, "python", ("python", path.name))
    if path.is_file() and os.access(path, os.X_OK):
        return _from_file(path, "", (f"./{path.name}",))
    raise BotError(
        f"{path} is neither a folder with a {manifest.FILE} nor a .toml file nor a .py file "
        f"nor an executable; if it is a program, chmod +x it."
    )


def from_folder(
    folder: Path, label: str | None = None, content: str = "", file: str = manifest.FILE
) -> Bot:
    """Return the bot in a folder with a manifest.

    Args:
        folder: the folder of the bot.
        label: the label of the bot; default: the name in its manifest.
        content: content hash of a stored version; empty for other folders, which are trusted.
        file: name of the manifest.

    Raises:
        BotError: the manifest is missing or not valid.
    """
    bot_manifest = manifest.read(folder, file)
    name = label or bot_manifest.name
    trusted = not content or not strangers(folder).exists()
    return Bot(
        name, bot_manifest, folder.absolute(), manifest_file=file, content=content, trusted=trusted
    )


def strangers(folder: Path) -> Path:
    """Return the marker file beside a stored version that only untrusted owners have sent."""
    return folder.with_name(f"{folder.name}.stranger")


def fetched(folder: Path) -> Path:
    """Return the marker file beside a fetched version.

    It contains the total size of the version's files; its modification time is the last use.
    """
    return folder.with_name(f"{folder.name}.fetched")


def _from_file(path: Path, language: str, run: tuple[str, ...]) -> Bot:
    name = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-")[:40] or "bot"
    bot_manifest = Manifest(name=name, language=language, run=run)
    return Bot(name, bot_manifest, path.parent, file=path.name)


def _network_bot(text: str) -> Bot:
    match = _HOST_AND_PORT.fullmatch(text.removeprefix(GRPC))
    if match is None or not 0 < int(match[2]) < 65536:
        raise BotError(f'"{text}" is not a valid address of a bot; write grpc://HOST:PORT.')
    return Bot(text, address=f"{match[1]}:{match[2]}")


def _socket_bot(text: str) -> Bot:
    path = text.removeprefix(UNIX).removeprefix("//")
    if not path:
        raise BotError(f'"{text}" is not a valid address of a bot; write unix:/path/of/its.sock.')
    absolute = Path(path).expanduser().absolute()
    return Bot(text, address=f"{UNIX}{absolute}")


def _is_bot(path: Path) -> bool:
    if path.is_dir():
        return (path / manifest.FILE).exists()
    return path.is_file() and (path.suffix in (".py", TOML) or os.access(path, os.X_OK))


def _unknown(text: str, known: Known | None) -> BotError:
    stored = list(known()) if known is not None else []
    names = {version.partition("@")[0] for version in stored}
    name = text.partition("@")[0]
    versions = sorted(version for version in stored if version.partition("@")[0] == name)
    if versions:
        return BotError(
            f'unknown version "{text}"; available: {_listed(versions)}.', code="unknown-version"
        )
    if text in samples():
        return BotError(f'unknown bot "{text}"; did you mean "{SAMPLE}{text}"?', code="unknown-bot")
    likely = [*names, *stored, *(SAMPLE + name for name in samples()), *_neighbours(text)]
    hint = nearest(text, likely) or (
        "; a bot is sample:NAME, a folder with a bot.toml, a .toml or .py file, "
        "an executable, grpc://HOST:PORT, unix:/PATH or NAME@VERSION."
    )
    return BotError(f'unknown bot "{text}"{hint}', code="unknown-bot")


def _neighbours(text: str) -> list[str]:
    """List the bots in the folder of the path `text`, in the same notation."""
    head, slash, _ = text.rpartition("/")
    try:
        entries = sorted(Path(head or (slash or ".")).expanduser().iterdir())
    except OSError:
        return []
    return [f"{head}{slash}{entry.name}" for entry in entries if _is_bot(entry)]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"
