"""The formats by the names that tournaments give them."""

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
"""Formats that are for matches of two sides."""
ALL_AT_ONCE: Final = frozenset(("round-robin", "gauntlet"))
"""Formats whose matches are all known from the start."""
CLOSED: Final = TWO_SIDES
"""Formats that nobody can join once they have begun."""


def settings_of(name: str) -> dict[str, type]:
    """Return the settings a format has beside its sides, with what each is.

    Raises ValueError if there is no such format.
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
    """Return a format with these settings, the usual ones where none are given.

    sides: of a match. llr: what `sprt` decides by; the others do not look at it.

    Raises ValueError, in a sentence, if there is no such format or setting, or a value does not
    fit.
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
