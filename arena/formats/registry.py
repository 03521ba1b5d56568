"""The formats by their names in tournament settings."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Final, TypeAlias

from arena.config import CYCLES, Bounds
from arena.errors import OutOfRange
from arena.formats.contract import Format
from arena.formats.knockout import KnockoutFormat
from arena.formats.ladder import LadderFormat
from arena.formats.round_robin import ChallengeFormat, GauntletFormat, RoundRobinFormat
from arena.formats.sprt_match import SprtFormat
from arena.formats.swiss import SwissFormat
from referee.games.shared.coded_errors import InvalidValue

Setting: TypeAlias = bool | int | float | str
FORMATS: Final[Mapping[str, Callable[..., Format]]] = {
    "round-robin": RoundRobinFormat,
    "gauntlet": GauntletFormat,
    "swiss": SwissFormat,
    "knockout": KnockoutFormat,
    "ladder": LadderFormat,
    "sprt": SprtFormat,
    "challenge": ChallengeFormat,
}
TWO_SIDES: Final = frozenset(("knockout",))
"""Formats for matches of two sides only."""
CLOSED: Final = frozenset(("knockout", "sprt"))
"""Formats that entrants cannot join after the start."""


LIMIT: Final = Bounds(0, 1_000_000)
"""The range of a whole number among the settings, unless `BOUNDS` states another one."""
BOUNDS: Final[Mapping[str, Bounds]] = {
    "adaptive": Bounds(0, 90),
    "best_of": Bounds(1, 1000),
    "challengers": Bounds(1, 10_000),
    "cycles": CYCLES,
    "extra": Bounds(0, 1000),
    "rounds": Bounds(0, 1000),
}
"""The ranges of settings, by name."""


PAIRINGS: Final[Mapping[str, int]] = {"gauntlet": 2, "ladder": 3, "swiss": 2}
"""The version of the pairing rules, by format.

New tournaments store it as the setting `pairing`. A tournament with an earlier version, or without
this setting, continues with the present rules from its next round; its pairings are not verified.
"""


def with_present_pairing(name: str, settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return the settings of a new tournament with the version of the pairing rules."""
    return {**settings, "pairing": PAIRINGS[name]} if name in PAIRINGS else dict(settings)


def has_present_pairing(name: str, settings: Mapping[str, object]) -> bool:
    """Return whether all rounds of a tournament were paired by the present rules."""
    return settings.get("pairing", 1) == PAIRINGS.get(name, 1)


def check_setting(name: str, value: object) -> None:
    """Check the range of a whole number among the settings of a format.

    Raises:
        OutOfRange: it is outside its range.
    """
    bounds = BOUNDS.get(name, LIMIT)
    if type(value) is int and value not in bounds:
        raise OutOfRange(name, str(bounds), value)


def settings_of(name: str) -> dict[str, type]:
    """Return the settings of a format and their types, without its sides.

    Raises:
        ValueError: the format does not exist.
    """
    if name not in FORMATS:
        raise InvalidValue(
            f"unknown format {name!r}; available: {', '.join(FORMATS)}", code="unknown-format"
        )
    usual = {field.name: type(field.default) for field in fields(FORMATS[name])}  # type: ignore[arg-type]
    return {word: kind for word, kind in usual.items() if word != "sides"}


def _check_pairing(name: str, version: object) -> None:
    newest = PAIRINGS.get(name, 1)
    if type(version) is not int or version not in Bounds(1, newest):
        raise InvalidValue(f"pairing of {name} is 1 to {newest}, not {version}", code="pairing")


def make(name: str, sides: int, settings: Mapping[str, object] | None = None) -> Format:
    """Create a format from settings; omitted ones have their defaults.

    Raises:
        ValueError: the format or a setting does not exist, or a value is not valid; the text is a
            sentence.
    """
    known = settings_of(name)
    values: dict[str, object] = {}
    for word, value in (settings or {}).items():
        if word == "pairing":
            _check_pairing(name, value)
            continue
        if word not in known:
            raise InvalidValue(
                f"{name} has no setting {word!r}; it has {', '.join(known)}", code="unknown-setting"
            )
        kind = known[word]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise InvalidValue(
                f"{word} of {name} is of the type {kind.__name__}, not {value!r}",
                code="setting-type",
            )
        if type(value) is int and value < 0:
            raise InvalidValue(f"{word} of {name} is not below 0", code="below-zero")
        values[word] = value
    if name in TWO_SIDES:
        if sides != 2:
            raise InvalidValue(f"{name} is for matches of two sides, not of {sides}", code="sides")
    else:
        values["sides"] = sides
    return FORMATS[name](**values)
