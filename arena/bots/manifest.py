"""Read and write `bot.toml`, the manifest of a bot."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta

from arena.config import START_MS
from arena.errors import BotError
from arena.system import beneath
from arena.system.structured_file import FileError, FileProblem, read_toml, toml_string
from referee.games.game_packages import BUILT_IN, EXAMPLE_GAME

FILE: Final = "bot.toml"
MOST_BYTES: Final = 1 << 20
"""Maximum size of a manifest in bytes."""
NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")
MOST_BUILD_COMMANDS: Final = 20
VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
MODEL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
EVERY_GAME: Final = "*"
GRPC: Final = "grpc"
STDIO: Final = "stdio"


class ManifestError(FileError, BotError):
    """A manifest is missing, unreadable or not valid."""


def _game_ids() -> Collection[str]:
    from referee.games.registry import GAMES

    return (*GAMES, EVERY_GAME)


def _is_command(words: Any) -> bool:
    return bool(words and words[0]) and not any("\0" in word for word in words)


def _is_build(build: Any) -> bool:
    if all(isinstance(part, str) for part in build):
        return _is_command(build)
    return len(build) <= MOST_BUILD_COMMANDS and all(
        isinstance(part, list) and _is_command(part) for part in build
    )


_Game: TypeAlias = Annotated[str, Meta(extra={"choices": _game_ids})]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A validated `bot.toml`."""

    name: Annotated[
        str,
        Meta(
            pattern=rf"\A{NAME.pattern}\Z",
            description='1 to 40 lowercase letters, digits, - and _, for example "my-bot"',
        ),
    ]
    run: Annotated[
        tuple[str, ...],
        Meta(
            description='a list of strings, for example ["python", "bot.py"]',
            extra={"allows": _is_command},
        ),
    ]
    version: str | None = None
    authors: Annotated[
        tuple[str, ...], Meta(description='a list of strings, for example ["Ana", "Bo"]')
    ] = ()
    language: Annotated[
        str,
        Meta(max_length=40, description='a string of at most 40 characters, for example "python"'),
    ] = ""
    games: Annotated[
        tuple[_Game, ...],
        Meta(
            min_length=1,
            description=f'a list of game ids, for example ["{EXAMPLE_GAME}"]; without it the '
            'bot plays every built-in game, and with ["*"] every game',
        ),
    ] = ()
    """Ids of the games it plays, "*" for every game; empty means every built-in game."""
    build: tuple[tuple[str, ...], ...] = ()
    """Commands run one after another in the bot's folder before its first start."""
    transport: Literal["grpc", "stdio"] = GRPC
    """Transport of questions: "grpc", or "stdio" for lines (arena/bots/stdio)."""
    challenges: bool = True
    """Whether other owners may challenge the bot in an arena."""
    models: Annotated[
        tuple[Annotated[str, Meta(pattern=rf"\A{MODEL_NAME.pattern}\Z")], ...],
        Meta(max_length=20, description='a list of names of models, for example ["small"]'),
    ] = ()
    """The models that it uses through the arena's proxy, if the organiser grants them."""
    start_ms: Annotated[int, Meta(ge=0, le=START_MS.most, description=str(START_MS))] = 0
    """Milliseconds that it needs to start, if more than a match gives; 0: it needs no more.

    The organiser limits them (`arena.bots.bot.granted_start_ms`).
    """

    def plays(self, game: str) -> bool:
        """Return whether the manifest lists this game, every game, or no games and it is built in.

        A bot does not play the game of a package because the package was installed after it.
        """
        return EVERY_GAME in self.games or game in (self.games or BUILT_IN)

    def values(self) -> dict[str, Any]:
        """Return the manifest as plain values; models only if it declares some."""
        values = asdict(self)
        if not self.models:
            del values["models"]
        return values

    def stored_values(self) -> dict[str, Any]:
        """Return the manifest of a version as plain values, with the games that exist now."""
        values = self.values()
        if EVERY_GAME in self.games:
            from referee.games.registry import GAMES

            values["games"] = tuple(GAMES)
        return values


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """The table `model` of a `bot.toml`, for a bot that plays with a language model.

    The bot itself reads it. It is not a part of a `Manifest`, which records contain.
    """

    base_url: Annotated[
        str,
        Meta(
            pattern=r"\Ahttps?://\S+\Z",
            description='an address, for example "http://127.0.0.1:11434/v1"',
        ),
    ]
    model: Annotated[str, Meta(min_length=1, description="the name of a model")]
    key: Annotated[
        str,
        Meta(
            pattern=r"\A([A-Za-z_][A-Za-z0-9_]*)?\Z",
            description='the name of an environment variable, for example "OPENAI_API_KEY"',
        ),
    ] = ""
    tries: Annotated[int, Meta(ge=1, le=20)] = 3
    stall_seconds: Annotated[float, Meta(gt=0)] = 20.0
    price_in: Annotated[float, Meta(ge=0)] = 0.0
    price_out: Annotated[float, Meta(ge=0)] = 0.0
    parameters: Annotated[dict[str, Any], Meta(description="a table of keys and values")] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True)
class _ManifestFile(Manifest):
    """The keys of a `bot.toml`. Two of them have several forms."""

    model: ModelEndpoint | None = None

    version: Annotated[
        Annotated[str, Meta(pattern=rf"\A{VERSION.pattern}\Z")] | Annotated[int, Meta(ge=0)] | None,
        Meta(description='up to 40 letters, digits, ., - and _, for example "2" or "1.4"'),
    ] = None  # type: ignore[assignment]
    build: Annotated[
        tuple[str | list[str], ...],
        Meta(
            min_length=1,
            description='a command such as ["make", "bot"], or a list of at most '
            f"{MOST_BUILD_COMMANDS} commands",
            extra={"allows": _is_build},
        ),
    ] = ()  # type: ignore[assignment]


def read(folder: Path, file: str = FILE) -> Manifest:
    """Read and validate the manifest of the bot in `folder`.

    A link as the manifest may lead only to a file of the folder: a build could replace the manifest
    by a link to a file of the arena, and errors show values of the file that was read.

    Raises:
        ManifestError: the file is missing, unreadable or not valid.
    """
    content = _content(folder, file)
    values = {each.name: getattr(content, each.name) for each in fields(Manifest)}
    values["version"] = None if content.version is None else str(content.version)
    values["build"] = _commands(content.build)
    return Manifest(**values)


def read_model(folder: Path, file: str = FILE) -> ModelEndpoint | None:
    """Read the table `model` of a manifest; None if it has none.

    Raises:
        ManifestError: as for `read`.
    """
    return _content(folder, file).model


def _content(folder: Path, file: str) -> _ManifestFile:
    path = folder / file
    if not os.path.lexists(path):
        sentence = "this file is missing; it states the bot's name and the command that runs it."
        raise ManifestError(path, FileProblem.ABSENT, sentence)
    return read_toml(
        path,
        _ManifestFile,
        ManifestError,
        read=lambda path: beneath.read_beneath(folder, file, MOST_BYTES, links=True),
    )


def _commands(build: tuple[str | list[str], ...]) -> tuple[tuple[str, ...], ...]:
    commands = tuple(tuple(part) for part in build if isinstance(part, list))
    return commands or ((tuple(map(str, build)),) if build else ())


def render(manifest: Manifest) -> str:
    """Serialize a manifest as a `bot.toml`; reading it yields the same manifest."""
    lines = [f"name = {toml_string(manifest.name)}"]
    if manifest.version is not None:
        lines.append(f"version = {toml_string(manifest.version)}")
    if manifest.authors:
        lines.append(f"authors = {_toml_list(manifest.authors)}")
    if manifest.language:
        lines.append(f"language = {toml_string(manifest.language)}")
    if manifest.games:
        lines.append(f"games = {_toml_list(manifest.games)}")
    if manifest.build:
        lines.append(f"build = [{', '.join(map(_toml_list, manifest.build))}]")
    lines.append(f"run = {_toml_list(manifest.run)}")
    if manifest.transport != GRPC:
        lines.append(f"transport = {toml_string(manifest.transport)}")
    if not manifest.challenges:
        lines.append("challenges = false")
    if manifest.models:
        lines.append(f"models = {_toml_list(manifest.models)}")
    if manifest.start_ms:
        lines.append(f"start_ms = {manifest.start_ms}")
    return "\n".join(lines) + "\n"


def _toml_list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(toml_string, texts))}]"
