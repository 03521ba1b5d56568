"""The formats by their names in tournament settings."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Final

from arena.formats.contract import Format
from arena.formats.knockout import Knockout
from arena.formats.ladder import Ladder
from arena.formats.round_robin import Gauntlet, RoundRobin
from arena.formats.sprt_match import LikelihoodRatio, Sprt
from arena.formats.swiss import Swiss

FORMATS: Final[Mapping[str, Callable[..., Format]]] = {
    "round-robin": RoundRobin,
    "gauntlet": Gauntlet,
    "swiss": Swiss,
    "knockout": Knockout,
    "ladder": Ladder,
    "sprt": Sprt,
}
TWO_SIDES: Final = frozenset(("knockout", "sprt"))
"""Formats for matches of two sides only."""
ALL_AT_ONCE: Final = frozenset(("round-robin", "gauntlet"))
"""Formats whose matches are all known at the start."""
CLOSED: Final = TWO_SIDES
"""Formats that entrants cannot join after the start."""


def settings_of(name: str) -> dict[str, type]:
    """Return the settings of a format and their types, without its sides.

    Raises:
        ValueError: the format does not exist.
    """
    if name not in FORMATS:
        raise ValueError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    usual = {field.name: type(field.default) for field in fields(FORMATS[name])}  # type: ignore[arg-type]
    return {word: kind for word, kind in usual.items() if word not in ("sides", "llr")}


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
            raise ValueError(f"{name} has no setting {word!r}; it has {', '.join(known)}")
        kind = known[word]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ValueError(f"{word} of {name} is of the type {kind.__name__}, not {value!r}")
        if type(value) is int and value < 0:
            raise ValueError(f"{word} of {name} is not below 0")
        values[word] = value
    if name in TWO_SIDES:
        if sides != 2:
            raise ValueError(f"{name} is for matches of two sides, not of {sides}")
    else:
        values["sides"] = sides
    if name == "sprt":
        if llr is None:
            raise ValueError("sprt needs a log-likelihood ratio to decide by")
        values["llr"] = llr
    return FORMATS[name](**values)
