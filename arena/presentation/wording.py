"""Numbers, times and names as text, for tables and pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from referee.sanitizing import sanitized

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def one_line(text: str) -> str:
    """Return a text without line breaks, tabs and terminal control characters."""
    return sanitized(text).replace("\n", " ").replace("\t", " ")


def contains_words(text: str, search_words: str) -> bool:
    """Whether a text contains every search word, ignoring case."""
    return all(word in text.lower() for word in search_words.lower().split())


def iso(seconds: float | None) -> str:
    """Return a time as ISO 8601 in UTC, with a resolution of one second."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment(seconds: float | None) -> str:
    """Return a readable time in UTC, with a resolution of one minute."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def ago(seconds: float) -> str:
    """Return an age: "now", "12 min", "3 h", "5 d"."""
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR:.0f} h"
    return f"{seconds // _DAY:.0f} d"


def whole(value: float) -> str:
    """Return a rounded number with a minus sign (U+2212), and groups of digits from 10,000."""
    if abs(value) < 10_000:
        return f"{value:.0f}".replace("-", "−")
    return f"{value:,.0f}".replace(",", " ").replace("-", "−")


def signed(value: float, digits: int = 1) -> str:
    """Return a number with a plus or minus sign (U+2212)."""
    return f"{value:+z.{digits}f}".replace("-", "−")


def gained(places: int | None) -> str:
    """Return gained or lost places: "▲2", "▼1"; empty for 0 and None."""
    if not places:
        return ""
    return f"▲{places}" if places > 0 else f"▼{-places}"


def percent(share: float, digits: int = 0) -> str:
    """Return a share from 0 to 1 as a percentage."""
    return f"{100 * share:.{digits}f} %"


def with_interval(
    text: Callable[[float], str], mean: float, low: float | None, high: float | None
) -> str:
    """Return a formatted mean with its interval, if it has one: "+1.5 (+0.5 to +2.5)"."""
    inner = f" ({text(low)} to {text(high)})" if low is not None and high is not None else ""
    return f"{text(mean)}{inner}"


def milliseconds(value: float | None) -> str:
    """Return milliseconds with three significant digits; from 1000 as a whole number."""
    if value is None:
        return "–"
    return f"{value:.3g}" if value < 1000 else whole(value)


def clock(milliseconds: float) -> str:
    """Return the time on a clock: "9.5 s", from a minute "1:05". static/live_clocks.js does too."""
    if milliseconds < 1000 * _MINUTE:
        return f"{milliseconds // 100 / 10:.1f} s"
    minutes, seconds = divmod(int(milliseconds // 1000), _MINUTE)
    return f"{minutes}:{seconds:02}"


def form_name(form: str) -> str:
    """Return a form as text: "gin_rummy-4-teams" becomes "Gin Rummy, 4 players, teams".

    The name of a ladder ends with its clock class: "chess~slow" becomes "Chess, slow".
    """
    from referee.games.registry import GAMES

    game, *rest = form.replace("~", "-").split("-")
    title = GAMES[game].title if game in GAMES else game
    words = (f"{word} players" if word.isdecimal() else word.replace("_", " ") for word in rest)
    return ", ".join([title, *words])


def format_name(name: str) -> str:
    """Return the name of a format in a sentence: "swiss" becomes "Swiss"."""
    return {"swiss": "Swiss", "sprt": "SPRT"}.get(name, name)


def fault_count(kind: str, number: int) -> str:
    """Return a number of faults of a kind: "1 crash", "9 crashes", "2 illegal"."""
    plural = {"crash": "crashes", "timeout": "timeouts", "forfeit": "forfeits"}.get(kind, kind)
    return f"{number} {kind if number == 1 else plural}"
