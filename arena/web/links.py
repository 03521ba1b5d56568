"""Addresses of pages: of the server, or of files that lie beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import quote, urlencode


class Links(Protocol):
    """Makes addresses. Names come from strangers: whatever they hold is quoted."""

    def to(self, *words: object, **query: object) -> str:
        """The address of a page: its words, such as "bots", "greedy", and its query."""

    def static(self, name: str) -> str:
        """The address of a style or a script."""


class ServerLinks:
    """Addresses on the server, from its root."""

    def __init__(self, version: str = "") -> None:
        self._version = version

    def to(self, *words: object, **query: object) -> str:
        """An absolute path."""
        path = "/" + "/".join(quote(str(word), safe="@") for word in words)
        return path + _query(query)

    def static(self, name: str) -> str:
        """An absolute path that changes with the release, so that it may be kept for long."""
        return f"/static/{name}" + (f"?v={self._version}" if self._version else "")


def _query(values: Mapping[str, object]) -> str:
    told = {name: str(value) for name, value in values.items() if value not in (None, "")}
    return f"?{urlencode(told)}" if told else ""
