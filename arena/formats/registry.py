"""The formats by their names in tournament settings."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Final

from arena.config import CYCLES, Bounds
from arena.errors import OutOfRange
from arena.formats.contract import Format
from arena.formats.knockout import KnockoutFormat
from arena.formats.ladder import LadderFormat
from arena.formats.round_robin import ChallengeFormat, GauntletFormat, RoundRobinFormat
from arena.formats.sprt_match import LikelihoodRatio, SprtFormat
from arena.formats.swiss import SwissFormat
from referee.games.shared.coded_errors import InvalidValue

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
    "pairing": Bounds(1, 3),
    "rounds": Bounds(0, 1000),
}
"""The ranges of settings, by name."""


NEWEST: Final[Mapping[str, Mapping[str, int]]] = {
    "gauntlet": {"pairing": 2},
    "ladder": {"pairing": 3, "adaptive": 80},
    "swiss": {"pairing": 2},
}
"""Settings that new tournaments have unless stated otherwise, by format.

The defaults of the formats are those of tournaments that store no value: earlier versions created
them with earlier pairing rules, and must continue and verify with these.
"""


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
    return {word: kind for word, kind in usual.items() if word not in ("sides", "llr")}


def _check_pairing(name: str, settings: Mapping[str, object]) -> None:
    """Check that the format has this version of pairing rules; `BOUNDS` is that of all formats."""
    if "pairing" in settings and settings["pairing"] not in Bounds(1, NEWEST[name]["pairing"]):
        raise InvalidValue(
            f"pairing of {name} is 1 to {NEWEST[name]['pairing']}, not {settings['pairing']}",
            code="pairing",
        )


def make(
    name: str,
    sides: int,
    settings: Mapping[str, object] | None = None,
    llr: LikelihoodRatio | None = None,
) -> Format:
    """Create a format from settings; omitted ones have their defaults.

    Args:
        name: the name of the format.
        sides: sides of a match.
        settings: values by name.
        llr: the log-likelihood ratio, required by `sprt` and ignored by other formats.

    Raises:
        ValueError: the format or a setting does not exist, or a value is not valid; the text is a
            sentence.
    """
    known = settings_of(name)
    values: dict[str, object] = {}
    for word, value in (settings or {}).items():
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
    _check_pairing(name, values)
    if name in TWO_SIDES:
        if sides != 2:
            raise InvalidValue(f"{name} is for matches of two sides, not of {sides}", code="sides")
    else:
        values["sides"] = sides
    if name == "sprt":
        if llr is None:
            raise InvalidValue("sprt needs a log-likelihood ratio to decide by", code="no-ratio")
        values["llr"] = llr
    return FORMATS[name](**values)
