"""Times for people."""

from datetime import datetime


def local(seconds: float | None) -> str:
    """A time by the clock on the wall here."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def duration(seconds: float) -> str:
    """A time as people say it: "40 s", "12 min", "3 h 20 min"."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
