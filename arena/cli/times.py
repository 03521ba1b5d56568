"""Times for people and for programs."""

from datetime import UTC, datetime


def local(seconds: float | None) -> str:
    """A time by the clock on the wall here."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def iso(seconds: float | None) -> str | None:
    """A time as ISO 8601 in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
