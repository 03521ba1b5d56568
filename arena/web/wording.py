"""Formatting of values for pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from arena.presentation.value_text import (
    ago as ago,
    gained as gained,
    iso as iso,
    milliseconds as milliseconds,
    moment as moment,
    percent as percent,
    signed as signed,
    whole as whole,
)
from arena.records.redaction import pathless
from arena.tournaments.time_estimate import duration
from referee.sanitizing import sanitized

_MINUTE = 60


def one_line(text: str) -> str:
    """Return a text without line breaks, tabs and terminal control characters."""
    return sanitized(text).replace("\n", " ").replace("\t", " ")


def contains_words(text: str, search_words: str) -> bool:
    """Whether a text contains every search word, ignoring case."""
    return all(word in text.lower() for word in search_words.lower().split())


def clock(milliseconds: float) -> str:
    """Return the time on a clock: "9.5 s", from a minute "1:05". static/live_clocks.js does too."""
    if milliseconds < 1000 * _MINUTE:
        return f"{milliseconds // 100 / 10:.1f} s"
    minutes, seconds = divmod(int(milliseconds // 1000), _MINUTE)
    return f"{minutes}:{seconds:02}"


def form_name(form: str) -> str:
    """Return a form as text: "pouku-4-teams" becomes "Pouku, 4, teams"."""
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
    "clock": clock,
    "form_name": form_name,
    "one_line": one_line,
    "pathless": pathless,
}
