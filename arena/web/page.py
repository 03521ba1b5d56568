"""A page before it is written down: one value for people, programs and live watchers alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlencode

# Addresses of pages: of the server, or of files that lie beside each other.


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


Rows = Sequence[Sequence[object]]


class BadAsk(ValueError):
    """What is asked for cannot be asked for. Its text is a sentence for people."""


class NoSuchPage(LookupError):
    """There is nothing at this address. Its text is a sentence for people."""


class Forbidden(PermissionError):
    """This is for others to see. Its text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What somebody wants to see.

    path: the values of the address, by name. query: what stands behind the question mark, the
    last of each name, and only the names that the address lists (arena.web.routes).
    links: how addresses are written. token: what an owner of bots is known by.
    """

    path: Mapping[str, str]
    query: Mapping[str, str]
    links: Links
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Table:
    """The one table of a page, for those who read it as CSV, Markdown or plain text.

    headings: a leading "<" puts a column to the left. rows: values, not yet text.
    """

    headings: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True, slots=True)
class Page:
    """What is to be shown.

    template: of the whole page. model: what it is filled with.
    data: the same for programs, or what makes it; None if there is nothing but the HTML.
    tables: (as CSV, for people as text); None where a page is no table.
    parts: the parts that move: `fragments/NAME.html`, drawn into the element of this id.
    topics: what it depends on (arena.web.data.changes); it is drawn anew when one of them changes.
    fresh: for how many seconds it may be kept while none does; 0: it is drawn for each who asks.
    """

    title: str
    template: str
    model: Mapping[str, Any]
    data: Any = None
    csv: Table | None = None
    text: Table | None = None
    parts: tuple[str, ...] = ()
    topics: frozenset[str] = frozenset({"arena"})
    fresh: float = 20.0
    status: int = 200
    still: bool = False
    """Whether it will not change any more: who opens it now is not told news of its parts."""
    frames: bool = False
    """Whether other sites may show it within theirs."""
    headers: Mapping[str, str] = field(default_factory=dict)
