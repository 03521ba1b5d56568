"""Times for people."""

from datetime import datetime


def local(seconds: float | None) -> str:
    """A time by the clock on the wall here."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
