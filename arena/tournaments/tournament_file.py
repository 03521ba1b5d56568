"""Read the settings of a tournament from a TOML file (docs/reference/formats.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from arena import config
from arena.config import Bounds
from arena.errors import BadName, OutOfRange, check_name, check_new_name, check_owner, nearest
from arena.formats import registry
from arena.store.matches.spec import Clock
from arena.system.structured_file import (
    FileError,
    FileProblem,
    InvalidKey,
    KeyPath,
    parse_toml,
    read_toml,
)
from referee.games.contract import SetupError
from referee.games.registry import GAMES

_CLOCK: Final = Clock()


class TournamentFileError(FileError):
    """A tournament file cannot be read or is not valid."""


@dataclass(frozen=True, slots=True)
class NamedBot:
    """A bot as named by the organiser.

    Args:
        text: the name, address or folder.
        owner: its owner; empty for none.
        key: its place in the tournament file; empty if a flag names it.
    """

    text: str
    owner: str = ""
    key: KeyPath = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class TournamentSpec:
    """The requested settings of a tournament, from a file or flags. None selects the default."""

    game: str = ""
    bots: tuple[NamedBot, ...] = ()
    name: str | None = None
    format: str = "round-robin"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the format; those from flags are text."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the game."""
    seats: int | None = None
    boards: int = 10
    seed: str | None = None
    faults: str = "lenient"
    start_ms: int = _CLOCK.start_ms
    allowance_ms: int = _CLOCK.allowance_ms
    bank_ms: int = _CLOCK.bank_ms
    file: str = ""
    """Path of the file, if any."""

    @property
    def clock(self) -> Clock:
        """The time limits of its matches."""
        return Clock(self.start_ms, self.allowance_ms, self.bank_ms)

    def updated(self, values: Mapping[str, Any]) -> TournamentSpec:
        """Return the settings with other values; settings and options are merged by name."""
        merged = {
            name: {**getattr(self, name), **values[name]}
            for name in ("settings", "options")
            if name in values
        }
        return replace(self, **{**values, **merged})


def _within(bounds: Bounds) -> Meta:
    return Meta(ge=bounds.least, le=bounds.most, description=str(bounds))


def _game_ids() -> Collection[str]:
    return GAMES


def _format_names() -> Collection[str]:
    return registry.FORMATS


def _is_game(name: str) -> bool:
    return name.replace("-", "_").lower() in GAMES


@dataclass(frozen=True, slots=True)
class _ClockTable:
    start_ms: Annotated[int, _within(config.START_MS)] = _CLOCK.start_ms
    allowance_ms: Annotated[int, _within(config.ALLOWANCE_MS)] = _CLOCK.allowance_ms
    bank_ms: Annotated[int, _within(config.BANK_MS)] = _CLOCK.bank_ms


@dataclass(frozen=True, slots=True)
class _EntrantTable:
    bot: Annotated[str, Meta(description='a bot, for example "sample:greedy"')]
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class _TournamentFile:
    """The keys of a tournament file."""

    game: Annotated[str, Meta(extra={"choices": _game_ids, "allows": _is_game})]
    name: str | None = None
    format: Annotated[str | None, Meta(extra={"choices": _format_names})] = None
    seats: Annotated[int, _within(config.SEATS)] | None = None
    boards: Annotated[int, _within(config.BOARDS)] = 10
    seed: str | None = None
    faults: Literal["lenient", "unforgiving"] = "lenient"
    bots: Annotated[
        tuple[str, ...], Meta(description='a list of strings, for example ["sample:greedy"]')
    ] = ()
    entrants: tuple[_EntrantTable, ...] = ()
    settings: dict[str, bool | int | float | str] = field(default_factory=dict)
    options: dict[str, bool | int | str] = field(default_factory=dict)
    clock: _ClockTable = field(default_factory=_ClockTable)


def read(path: Path) -> TournamentSpec:
    """Return the settings in a file; folders of bots are relative to it.

    Raises:
        TournamentFileError: the file cannot be read or is not valid.
    """
    bots: list[NamedBot] = []

    def check(content: _TournamentFile) -> None:
        _check_names(content)
        _check_options(content)
        _check_settings(content)
        bots.extend(_bots(path.parent, content))

    content = read_toml(path, _TournamentFile, TournamentFileError, check)
    spec = TournamentSpec(
        game=content.game,
        bots=tuple(bots),
        name=content.name,
        settings=content.settings,
        options=content.options,
        seats=content.seats,
        boards=content.boards,
        seed=content.seed,
        faults=content.faults,
        start_ms=content.clock.start_ms,
        allowance_ms=content.clock.allowance_ms,
        bank_ms=content.clock.bank_ms,
        file=str(path),
    )
    return spec if content.format is None else replace(spec, format=content.format)


def line_of(spec: TournamentSpec, bot: NamedBot) -> int | None:
    """Return the line of the tournament file that names a bot; None if a flag names it."""
    return parse_toml(Path(spec.file)).line(*bot.key) if bot.key else None


def _check_names(content: _TournamentFile) -> None:
    for index, entrant in enumerate(content.entrants):
        if entrant.owner is not None:
            with _at(("entrants", index, "owner")):
                check_owner(entrant.owner)
    if content.name is not None:
        with _at(("name",)):
            check_name("a tournament", content.name)
            check_new_name("a tournament", content.name)


@contextmanager
def _at(path: KeyPath) -> Iterator[None]:
    """Report an invalid name with the place of its key."""
    try:
        yield
    except BadName as error:
        raise InvalidKey(path, str(error)) from None


def _check_options(content: _TournamentFile) -> None:
    game = GAMES[content.game.replace("-", "_").lower()]
    for name, value in content.options.items():
        path = ("options", name)
        if name not in game.options:
            raise _unknown(path, f"option of {game.id}", game.options)
        try:
            game.settle({name: value})
        except SetupError as error:
            raise InvalidKey(path, f"{error}.") from None


def _check_settings(content: _TournamentFile) -> None:
    if content.format is None:
        # The format may be an option of the command, which is checked afterwards.
        return
    known = registry.settings_of(content.format)
    for name, value in content.settings.items():
        path = ("settings", name)
        if name not in known:
            raise _unknown(path, f"setting of {content.format}", known)
        try:
            registry.check_setting(name, value)
        except OutOfRange as error:
            raise InvalidKey(path, str(error)) from None


def _unknown(path: tuple[str, str], what: str, known: Collection[str]) -> InvalidKey:
    hint = nearest(path[-1], known) or f"; there are {', '.join(known) or 'none'}."
    return InvalidKey(path, f'unknown {what} "{path[-1]}"{hint}', FileProblem.UNKNOWN_KEY)


def _bots(folder: Path, content: _TournamentFile) -> list[NamedBot]:
    """Resolve the bots of a file: folders are relative to it and may contain patterns."""
    named = [NamedBot(text, "", ("bots", index)) for index, text in enumerate(content.bots)]
    named += [
        NamedBot(entrant.bot, entrant.owner or "", ("entrants", index, "bot"))
        for index, entrant in enumerate(content.entrants)
    ]
    return [
        replace(bot, text=text) for bot in named for text in _matching(folder, bot.key, bot.text)
    ]


def _matching(folder: Path, key: KeyPath, text: str) -> list[str]:
    if "://" in text or text.startswith("sample:"):
        return [text]
    if any(character in text for character in "*?["):
        folders = sorted(path for path in folder.glob(text) if (path / "bot.toml").is_file())
        if not folders:
            raise InvalidKey(key, f"no folder {folder / text} contains a bot.toml.")
        return list(map(str, folders))
    path = folder / text
    return [str(path)] if path.exists() else [text]
