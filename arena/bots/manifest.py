"""Read and write `bot.toml`, the manifest of a bot."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.errors import BotError, nearest
from referee.sanitizing import HIDDEN, quote

FILE: Final = "bot.toml"
NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")
VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
GRPC: Final = "grpc"
STDIO: Final = "stdio"
TRANSPORTS: Final = (GRPC, STDIO)
FIELDS: Final = (
    "name",
    "version",
    "authors",
    "language",
    "games",
    "build",
    "run",
    "transport",
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A validated `bot.toml`."""

    name: str
    run: tuple[str, ...]
    version: str | None = None
    authors: tuple[str, ...] = ()
    language: str = ""
    games: tuple[str, ...] = ()
    """Ids of the games it plays; empty means every game."""
    build: tuple[tuple[str, ...], ...] = ()
    """Commands run one after another in the bot's folder before its first start."""
    transport: str = GRPC
    """Transport of questions: "grpc", or "stdio" for lines (arena/bots/stdio)."""

    def plays(self, game: str) -> bool:
        """Return whether the manifest lists this game, or no games at all."""
        return not self.games or game in self.games


def read(folder: Path, file: str = FILE) -> Manifest:
    """Read and validate the manifest of the bot in `folder`.

    Raises:
        BotError: the file is missing, unreadable or not valid; the message is one sentence.
    """
    path = folder / file
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BotError(
            f"{folder} has no {file}, which says the bot's name and how to run it."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BotError(f"{path} cannot be read: {_reason(error)}.") from None
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BotError(f"{path} is not TOML: {error}.") from None
    return _Reader(path, fields).manifest()


def render(manifest: Manifest) -> str:
    """Serialize a manifest as a `bot.toml`; reading it yields the same manifest."""
    lines = [f"name = {_text(manifest.name)}"]
    if manifest.version is not None:
        lines.append(f"version = {_text(manifest.version)}")
    if manifest.authors:
        lines.append(f"authors = {_texts(manifest.authors)}")
    if manifest.language:
        lines.append(f"language = {_text(manifest.language)}")
    if manifest.games:
        lines.append(f"games = {_texts(manifest.games)}")
    if manifest.build:
        lines.append(f"build = [{', '.join(_texts(command) for command in manifest.build)}]")
    lines.append(f"run = {_texts(manifest.run)}")
    if manifest.transport != GRPC:
        lines.append(f"transport = {_text(manifest.transport)}")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path
    fields: dict[str, object]

    def manifest(self) -> Manifest:
        for key in self.fields:
            if key not in FIELDS:
                hint = nearest(key, FIELDS) or f"; the fields are {', '.join(FIELDS)}."
                raise self._wrong(f'has an unknown field "{quote(key, 60)}"{hint}')
        return Manifest(
            name=self._name(),
            version=self._version(),
            authors=self._words("authors"),
            language=self._language(),
            games=self._games(),
            build=self._build(),
            run=self._run(),
            transport=self._transport(),
        )

    def _wrong(self, what: str) -> BotError:
        return BotError(f"{self.path} {what}")

    def _name(self) -> str:
        name = self.fields.get("name")
        if name is None:
            raise self._wrong('has no "name"; write name = "my-bot".')
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise self._wrong(
                f'has {_shown(name)} as "name"; a name is 1 to 40 lowercase letters, digits, '
                "- and _."
            )
        return name

    def _version(self) -> str | None:
        version = self.fields.get("version")
        if version is None:
            return None
        if isinstance(version, int) and not isinstance(version, bool) and version >= 0:
            version = str(version)
        if not isinstance(version, str) or not VERSION.fullmatch(version):
            raise self._wrong(
                f'has {_shown(version)} as "version"; a version is up to 40 letters, digits, '
                '., - and _, for example "2" or "1.4".'
            )
        return version

    def _language(self) -> str:
        language = self.fields.get("language", "")
        if not isinstance(language, str) or len(language) > 40:
            raise self._wrong(
                f'has {_shown(language)} as "language"; write a word such as "python" or "go".'
            )
        return language

    def _words(self, field: str) -> tuple[str, ...]:
        words = self.fields.get(field, [])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise self._wrong(
                f'has {_shown(words)} as "{field}"; write a list of texts, '
                f'for example {field} = ["..."].'
            )
        return tuple(words)

    def _games(self) -> tuple[str, ...]:
        from referee.games.registry import GAMES

        games = self._words("games")
        if "games" in self.fields and not games:
            raise self._wrong('has an empty "games"; leave it out for a bot that plays every game.')
        for game in games:
            if game not in GAMES:
                hint = nearest(game, GAMES) or f"; the games are {', '.join(sorted(GAMES))}."
                raise self._wrong(f'names an unknown game "{quote(game, 60)}" in "games"{hint}')
        return games

    def _run(self) -> tuple[str, ...]:
        if "run" not in self.fields:
            raise self._wrong('has no "run"; write run = ["python", "bot.py"].')
        return self._command("run", self.fields["run"])

    def _build(self) -> tuple[tuple[str, ...], ...]:
        build = self.fields.get("build")
        if build is None:
            return ()
        if isinstance(build, list) and build and all(isinstance(part, list) for part in build):
            return tuple(self._command("build", command) for command in build)
        return (self._command("build", build),)

    def _command(self, field: str, command: object) -> tuple[str, ...]:
        if (
            not isinstance(command, list)
            or not command
            or not all(isinstance(word, str) and "\0" not in word for word in command)
            or not command[0]
        ):
            raise self._wrong(
                f'has {_shown(command)} as "{field}"; a command is a list of words, '
                'for example ["python", "bot.py"].'
            )
        return tuple(command)

    def _transport(self) -> str:
        transport = self.fields.get("transport", GRPC)
        if not isinstance(transport, str) or transport not in TRANSPORTS:
            raise self._wrong(
                f'has {_shown(transport)} as "transport"; write "grpc", or "stdio" for a program '
                "that reads and writes lines."
            )
        return transport


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"


def _shown(value: object) -> str:
    """Format a value as in the author's file, with at most 60 characters."""
    shown = _text(value) if isinstance(value, str) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _text(text: str) -> str:
    escaped = "".join(_escaped(character) for character in text)
    return f'"{escaped}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable() and character not in HIDDEN:
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _texts(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(_text(text) for text in texts)}]"
