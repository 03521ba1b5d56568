"""Read the specification of a tournament from a TOML file and flags."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from arena.cli.errors import USAGE, CommandError
from arena.cli.options import unknown

Entry = tuple[str, str]
"""A bot as named by the organiser, and its owner ("" for none)."""


@dataclass(frozen=True, slots=True)
class Cup:
    """Specification of a tournament before names are resolved. None selects the default."""

    game: str = ""
    bots: tuple[Entry, ...] = ()
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
    start_ms: int = 10_000
    allowance_ms: int = 200
    bank_ms: int = 10_000
    file: str = ""
    """Path of the file, if any."""


_KINDS: Final[Mapping[str, type]] = {
    "game": str,
    "name": str,
    "format": str,
    "seats": int,
    "boards": int,
    "seed": str,
    "faults": str,
    "bots": list,
    "entrants": list,
    "settings": dict,
    "options": dict,
    "clock": dict,
}
_CLOCK: Final = ("start_ms", "allowance_ms", "bank_ms")
_ENTRANT: Final = ("bot", "owner")
_WORDS: Final[Mapping[type, str]] = {
    str: "a text",
    int: "a whole number",
    list: "a list",
    dict: "a table",
}


def read(path: Path) -> Cup:
    """Return the specification in a file; folders of bots are relative to it.

    Raises:
        CommandError: the file cannot be read or is not valid; the sentence names the file.
    """
    try:
        said = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise CommandError(f"{path} is no TOML: {error}.", USAGE) from None
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.", USAGE) from None
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is no text: {error}.", USAGE) from None
    _check(path, said, _KINDS, "")
    clock = said.pop("clock", {})
    _check(path, clock, dict.fromkeys(_CLOCK, int), "clock.")
    bots = said.pop("bots", [])
    if not all(isinstance(bot, str) for bot in bots):
        raise CommandError(f"{path}: bots is a list of texts.", USAGE)
    entries = [(bot, "") for bot in bots]
    for entrant in said.pop("entrants", []):
        if not isinstance(entrant, dict) or "bot" not in entrant:
            raise CommandError(f"{path}: each of [[entrants]] says its bot.", USAGE)
        _check(path, entrant, dict.fromkeys(_ENTRANT, str), "entrants.")
        entries.append((entrant["bot"], entrant.get("owner", "")))
    if "game" not in said:
        raise CommandError(f'{path} does not say the game; write for example game = "poke".', USAGE)
    found = tuple(each for entry in entries for each in _from(path.parent, entry))
    return Cup(**said, **clock, bots=found, file=str(path))


def merged(cup: Cup, given: Mapping[str, Any]) -> Cup:
    """Return the specification updated by flags; settings and options are merged."""
    known = {one.name for one in fields(Cup)}
    assert known.issuperset(given)
    both = {
        name: {**getattr(cup, name), **given[name]}
        for name in ("settings", "options")
        if name in given
    }
    return replace(cup, **{**given, **both})


def pairs(texts: Sequence[str], what: str) -> dict[str, str]:
    """Return the settings in texts such as "rounds=5"."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"{what} {name} needs a value; write {name}=VALUE.", USAGE)
        found[name] = value
    return found


def settled(format_name: str, settings: Mapping[str, Any]) -> dict[str, bool | int | float]:
    """Convert a format's settings to their types; parse those given as text.

    Raises:
        CommandError: the format or a setting is unknown, or a value is not valid.
    """
    from arena.formats import registry

    if format_name not in registry.FORMATS:
        raise unknown("format", format_name, list(registry.FORMATS))
    known = registry.settings_of(format_name)
    for name in settings:
        if name not in known:
            raise unknown(f"setting of {format_name}", name, list(known))
    return {name: _setting(name, value, known[name]) for name, value in settings.items()}


def _setting(name: str, value: Any, kind: type) -> bool | int | float:
    if not isinstance(value, str):
        return value  # type: ignore[no-any-return]  # the format checks it
    readers: dict[type, Callable[[str], bool | int | float]] = {
        bool: lambda text: {"true": True, "false": False}[text],
        int: int,
        float: float,
    }
    try:
        return readers[kind](value)
    except (KeyError, ValueError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise CommandError(f"{name} is {wanted}, not {value!r}.", USAGE) from None


def _check(path: Path, said: Mapping[str, Any], kinds: Mapping[str, type], where: str) -> None:
    for word, value in said.items():
        if word not in kinds:
            known = unknown("setting", where + word, _names(kinds, where))
            raise CommandError(f"{path}: {known}", USAGE)
        if type(value) is not kinds[word]:
            raise CommandError(
                f"{path}: {where}{word} is {_WORDS[kinds[word]]}, not {value!r}.", USAGE
            )


def _names(kinds: Mapping[str, type], where: str) -> list[str]:
    return [where + name for name in kinds]


def _from(folder: Path, entry: Entry) -> list[Entry]:
    """Resolve an entry of a file: folders are relative to it and may contain patterns."""
    text, owner = entry
    if "://" in text or text.startswith("sample:"):
        return [entry]
    if any(letter in text for letter in "*?["):
        found = sorted(path for path in folder.glob(text) if (path / "bot.toml").is_file())
        if not found:
            raise CommandError(f"no folder {folder / text} has a bot.toml.", USAGE)
        return [(str(path), owner) for path in found]
    there = folder / text
    return [(str(there), owner)] if there.exists() else [entry]
