"""Read a tournament as an organiser requests it (docs/reference/formats.md).

A file, the options of the command, which override those of the file, a form and a JSON object give
values named as in a file. They are converted and checked here, once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from arena.errors import BadName, InvalidSettings, check_owner
from arena.store.match_settings import PRESETS, TournamentPlan, seed_of
from arena.system.structured_file import (
    FileError,
    FileProblem,
    InvalidKey,
    KeyPath,
    convert,
    parse_toml,
)

if TYPE_CHECKING:
    from arena.store.bots.versions import Version


def _presets() -> Collection[str]:
    return PRESETS


class TournamentFileError(FileError):
    """A tournament file cannot be read or is not valid."""


@dataclass(frozen=True, slots=True)
class NamedBot:
    """A bot as named by the organiser: its name, address or folder, and its owner."""

    bot: Annotated[str, Meta(description='a bot, for example "sample:greedy"')]
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRequest(TournamentPlan):
    """The plan of a new tournament with its bots and its seed: the keys of a tournament file."""

    bots: Annotated[
        tuple[str, ...], Meta(description='a list of strings, for example ["sample:greedy"]')
    ] = ()
    """Bots without owners; empty once the request is checked."""
    entrants: tuple[NamedBot, ...] = ()
    preset: Annotated[str, Meta(extra={"choices": _presets})] | None = None
    """The preset whose values replace the defaults."""
    seed: str | None = None
    """A text from which all cards follow; None: random."""

    @property
    def secret(self) -> bytes | None:
        """The bytes of the seed."""
        return None if self.seed is None else seed_of(self.seed)


def request_of(values: Mapping[str, Any], folder: Path | None = None) -> TournamentRequest:
    """Return the checked request that values describe, named as in a tournament file.

    Args:
        folder: the folder to which folders of bots are relative; they may then contain patterns.

    Raises:
        InvalidSettings: a value is unknown or not valid.
    """
    try:
        request = convert(values, TournamentRequest)
        if request.preset:
            preset = PRESETS[request.preset]
            clock = {**preset["clock"], **values.get("clock", {})}
            request = convert({**preset, **values, "clock": clock}, TournamentRequest)
        _check_owners(request)
        entrants = tuple(bot for _, bot in _named_bots(values, folder))
    except InvalidKey as wrong:
        raise InvalidSettings(wrong.sentence, code=wrong.problem, key=wrong.path) from None
    return replace(request.settled(len(entrants)), bots=(), entrants=entrants)


def read_request(path: Path, options: Mapping[str, Any] | None = None) -> TournamentRequest:
    """Return the checked request in a file; folders of bots are relative to it.

    Args:
        options: values that override those of the file; tables are merged.

    Raises:
        TournamentFileError: the file cannot be read, or one of its values is not valid.
        InvalidSettings: one of the options is not valid.
    """
    toml = parse_toml(path, TournamentFileError)
    given = options or {}
    values = {**toml.values, **given}
    if "bots" in given:
        values.pop("entrants", None)
    for name in ("settings", "options", "clock"):
        if name in given and isinstance(toml.values.get(name), dict):
            values[name] = toml.values[name] | given[name]
    try:
        return request_of(values, None if "bots" in given else path.parent)
    except InvalidSettings as error:
        if _is_in(given, error.key):
            raise
        wrong = InvalidKey(error.key, str(error), _problem(error.code))
        raise toml.error(wrong, TournamentFileError) from None


def _problem(code: str) -> FileProblem:
    if code == "unknown-name":
        return FileProblem.UNKNOWN_KEY
    return FileProblem(code) if code in list(FileProblem) else FileProblem.VALUE


def _is_in(given: Mapping[str, Any], key: KeyPath) -> bool:
    """Return whether options contain a value, which then does not come from the file."""
    value: Any = given
    for step in key:
        if not isinstance(value, Mapping):
            break
        if step not in value:
            return False
        value = value[step]
    return bool(key)


def line_of(path: Path, bot: NamedBot) -> int | None:
    """Return the line of a tournament file that names a bot; None if an option names it."""
    toml = parse_toml(path)
    for key, named in _named_bots(toml.values, path.parent):
        if named == bot:
            return toml.line(*key)
    return None


def _check_owners(request: TournamentRequest) -> None:
    for index, entrant in enumerate(request.entrants):
        if entrant.owner is not None:
            try:
                check_owner(entrant.owner)
            except BadName as error:
                raise InvalidKey(("entrants", index, "owner"), str(error)) from None


def _named_bots(
    values: Mapping[str, Any], folder: Path | None
) -> Iterator[tuple[KeyPath, NamedBot]]:
    """Yield the bots of valid values with their keys; those of a pattern share one."""
    named: list[tuple[KeyPath, NamedBot]]
    named = [(("bots", index), NamedBot(bot)) for index, bot in enumerate(values.get("bots", ()))]
    named += [
        (("entrants", index, "bot"), NamedBot(**entrant))
        for index, entrant in enumerate(values.get("entrants", ()))
    ]
    for key, bot in named:
        texts = [bot.bot] if folder is None else _matching(folder, key, bot.bot)
        yield from ((key, replace(bot, bot=text)) for text in texts)


def _matching(folder: Path, key: KeyPath, text: str) -> list[str]:
    if "://" in text or text.startswith("sample:"):
        return [text]
    if any(character in text for character in "*?["):
        paths = (folder / name for name in glob(text, root_dir=folder, recursive=True))
        folders = sorted(path for path in paths if (path / "bot.toml").is_file())
        if not folders:
            raise InvalidKey(key, f"no folder {folder / text} contains a bot.toml.")
        return list(map(str, folders))
    path = folder / text
    return [str(path)] if path.exists() else [text]


def pairs(texts: Sequence[str], what: str) -> dict[str, str]:
    """Return the values in texts such as "rounds=5" by their names.

    Raises:
        InvalidSettings: a text has no equals sign, or one name has two values.
    """
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidSettings(f"{what} {name} needs a value; write {name}=VALUE.")
        if settings.setdefault(name, value) != value:
            raise InvalidSettings(
                f"{what} {name} is given twice, as {settings[name]} and {value}; give it once.",
                code="option-twice",
            )
    return settings


def check_plays(bot: Version, game: str) -> None:
    """Check that a bot plays a game.

    Raises:
        InvalidSettings: it does not.
    """
    if not bot.plays(game):
        raise InvalidSettings(
            f'{bot.id} does not play {game}: it is not in the list "games" of its bot.toml.',
            code="not-played",
        )
