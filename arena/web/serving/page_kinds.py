"""Kinds in which a page is available, and the kind that a request names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from arena.web.page import Page

KINDS: Final[Mapping[str, str]] = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "atom": "application/atom+xml; charset=utf-8",
}
"""Media type of each kind."""


def split(path: str) -> tuple[str, str | None]:
    """Return a path without its extension, and the kind that the extension names, if any."""
    head, dot, ending = path.rpartition(".")
    if dot and ending in KINDS and "/" not in ending and head.rstrip("/"):
        return head, ending
    return path, None


def preferred_kind(accept: str, default: str = "html") -> str:
    """Return the kind that an Accept header prefers.

    Args:
        default: the kind for `*/*`, and if the header names no known kind.
    """
    best, rank = default, 0.0
    for at, choice in enumerate(accept.split(",")):
        media, *settings = (word.strip() for word in choice.split(";"))
        kind = _kind(media.lower(), default)
        worth = _worth(settings) - at * 1e-6
        if kind is not None and worth > rank:
            best, rank = kind, worth
    return best


def _kind(media: str, default: str) -> str | None:
    if media == "*/*":
        return default
    if media == "text/*":
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


def offered(page: Page) -> tuple[str, ...]:
    """Return the kinds in which a page is available."""
    available = {
        "html": bool(page.template),
        "json": page.data is not None,
        "csv": page.csv is not None,
        "md": page.text is not None,
        "txt": page.text is not None,
        "atom": page.feed is not None,
    }
    return tuple(kind for kind in KINDS if available[kind])
