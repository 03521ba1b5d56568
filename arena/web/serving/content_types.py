"""Content negotiation: by the extension of the path or by the Accept header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KINDS: Final[Mapping[str, str]] = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}
"""Media type of each kind."""


def split(path: str) -> tuple[str, str | None]:
    """Return a path without its extension, and the kind that the extension names, if any."""
    head, dot, ending = path.rpartition(".")
    if dot and ending in KINDS and "/" not in ending and head.rstrip("/"):
        return head, ending
    return path, None


def wanted(accept: str) -> str:
    """Return the kind that an Accept header prefers; HTML by default."""
    best, rank = "html", 0.0
    for at, choice in enumerate(accept.split(",")):
        media, *settings = (word.strip() for word in choice.split(";"))
        kind = _kind(media.lower())
        worth = _worth(settings) - at * 1e-6
        if kind is not None and worth > rank:
            best, rank = kind, worth
    return best


def _kind(media: str) -> str | None:
    if media in ("*/*", "text/*"):
        return "html"
    return next(
        (k for k, content_type in KINDS.items() if content_type.partition(";")[0] == media), None
    )


def _worth(settings: list[str]) -> float:
    for setting in settings:
        name, _, value = setting.partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
