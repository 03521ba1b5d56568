"""Values in the words of pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from arena.records.redaction import pathless
from arena.tournaments.time_estimate import duration
from referee.sanitizing import sanitized

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def one_line(text: str) -> str:
    """A text that cannot break out of its line, nor speak to a terminal."""
    return sanitized(text).replace("\n", " ").replace("\t", " ")


def holds(text: str, sought: str) -> bool:
    """Whether a text holds every one of some words, in whatever letters."""
    return all(word in text.lower() for word in sought.lower().split())


def iso(seconds: float | None) -> str:
    """A time as ISO 8601 in UTC, to the second."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment(seconds: float | None) -> str:
    """A time as people read it, in UTC."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def ago(seconds: float) -> str:
    """How long ago something was: "now", "12 min", "3 h", "5 d"."""
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR:.0f} h"
    return f"{seconds // _DAY:.0f} d"


def whole(value: float) -> str:
    """A number without decimals, with a true minus; from ten thousand on in groups of three."""
    if abs(value) < 10_000:
        return f"{value:.0f}".replace("-", "−")
    return f"{value:,.0f}".replace(",", " ").replace("-", "−")


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign, a true minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def gained(places: int | None) -> str:
    """Places gained or lost: "▲2", "▼1"; nothing for none."""
    if not places:
        return ""
    return f"▲{places}" if places > 0 else f"▼{-places}"


def percent(share: float, digits: int = 0) -> str:
    """A share from 0 to 1 in per cent."""
    return f"{100 * share:.{digits}f} %"


def milliseconds(value: float | None) -> str:
    """A thinking time: three digits."""
    if value is None:
        return "–"
    return f"{value:.3g}" if value < 1000 else whole(value)


def form_name(form: str) -> str:
    """A form in words: "pouku-4-teams" is "Pouku, 4, teams"."""
    from referee.games.registry import GAMES

    game, *rest = form.split("-")
    title = GAMES[game].title if game in GAMES else game
    return ", ".join([title, *(word.replace("_", " ") for word in rest)])


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "iso": iso,
    "moment": moment,
    "ago": ago,
    "duration": duration,
    "whole": whole,
    "signed": signed,
    "gained": gained,
    "percent": percent,
    "ms": milliseconds,
    "form_name": form_name,
    "one_line": one_line,
    "pathless": pathless,
}
