"""A page before rendering: its address, and one value for HTML, data and live updates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from arena.errors import InvalidSettings
from arena.store.access.sessions import Identity, Role
from arena.store.match_settings import canonical_ladder
from arena.web.data.web_state import WebState


class Links(Protocol):
    """Builds links. It quotes all words, because names come from untrusted authors."""

    @property
    def has_play(self) -> bool:
        """Whether people can play against bots here."""

    def to(self, *words: object, **query: object) -> str:
        """Return the link to a page.

        Args:
            words: the path's segments, for example "bots", "greedy".
            query: the query parameters; None and "" are omitted.
        """

    def static(self, name: str) -> str:
        """Return the link to a style sheet or script."""


@dataclass(frozen=True, slots=True)
class ServerLinks:
    """Absolute paths on the server.

    Args:
        version: the version of the style sheets and scripts; empty: unknown.
        has_play: whether people can play against bots on this server.
        root_path: the path below which a proxy shows the pages, such as "/arena".
    """

    version: str = ""
    has_play: bool = False
    root_path: str = ""

    def to(self, *words: object, **query: object) -> str:
        """Return an absolute path."""
        path = "/" + "/".join(quote(str(word), safe="@") for word in words)
        return self.within(path + _query(query))

    def within(self, path: str) -> str:
        """Return the link to a path of the server's routes, such as "/bots/greedy"."""
        return self.root_path + path

    def static(self, name: str) -> str:
        """Return an absolute path with the files' version, so that browsers can keep the file."""
        return self.within(f"/static/{name}" + (f"?v={self.version}" if self.version else ""))


def _query(values: Mapping[str, object]) -> str:
    present = {name: str(value) for name, value in values.items() if value not in (None, "")}
    return f"?{urlencode(present)}" if present else ""


Rows = Sequence[Sequence[object]]


class InvalidQuery(ValueError):
    """The request is invalid (400). The exception's text is a sentence for people."""


def ladder_in_query(name: str) -> str:
    """Return the canonical name of a form or ladder in a query, or ""; raises InvalidQuery."""
    try:
        return canonical_ladder(name) if name else ""
    except InvalidSettings as error:
        raise InvalidQuery(f"form: {error}") from None


class PageNotFound(LookupError):
    """The page does not exist (404). The exception's text is a sentence for people."""


class Forbidden(PermissionError):
    """The token does not permit access (403). The exception's text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page.

    Args:
        path: the values in the path, by name.
        query: the declared query parameters (arena.web.routes); the last value of each name.
        token: the token that a program sent as an owner of bots; empty without one.
        viewer: who is signed in; None without a session. Only HTML depends on it.
    """

    path: Mapping[str, str]
    query: Mapping[str, str]
    links: Links
    token: str = field(default="", repr=False)
    viewer: Identity | None = None

    def is_session_of(self, owner: str) -> bool:
        """Whether this owner of bots is signed in."""
        return bool(owner) and self.viewer == Identity(Role.OWNER, owner)


@dataclass(frozen=True, slots=True)
class TextTable:
    """The table of a page, for CSV, Markdown and plain text.

    Args:
        headings: the column titles; a leading "<" aligns the column to the left.
        rows: the values, not yet formatted.
    """

    headings: tuple[str, ...]
    rows: Rows


class AtomFeed(NamedTuple):
    """The time of the newest entry of a feed, in seconds since 1970, and its XML document."""

    updated: float
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """The content of a page.

    Args:
        template: the template of the whole page; empty if HTML is not available.
        data: the JSON data, or a function that returns them; None if JSON is not available.
        csv: the table for CSV; None if not available.
        text: the table for Markdown and plain text; None if not available.
        parts: the live parts; `fragments/NAME.html` is rendered into the element with this ID.
            "NAME:KEY" renders it with the variable `key` into the element NAME-KEY.
        topics: the topics (arena.web.data.changes) whose changes make the page outdated.
        fresh: seconds for which the page may be cached without a change; 0 disables the cache.
        feed: returns the Atom feed; None if the page has none.
        feed_link: link to an Atom feed, of this page or another one; empty for none.
        description: a sentence for previews of links to the page; empty for that of the site.
        picture: path of the picture for such previews; empty for none.
        manage: link to the organiser's page about the same subject; empty for none.
        lone_bots: names of bots that HTML shows without the number of their only version.
    """

    title: str
    template: str
    model: Mapping[str, Any]
    data: Any = None
    csv: TextTable | None = None
    text: TextTable | None = None
    parts: tuple[str, ...] = ()
    topics: frozenset[str] = frozenset({"arena"})
    fresh: float = 20.0
    status: int = 200
    still: bool = False
    """Whether the page is final; new clients then do not receive live updates."""
    headers: Mapping[str, str] = field(default_factory=dict)
    feed: Callable[[], AtomFeed] | None = None
    feed_link: str = ""
    description: str = ""
    picture: str = ""
    manage: str = ""
    lone_bots: frozenset[str] = frozenset()


Draw = Callable[[WebState, PageRequest], Page]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page's path, its function and its parameters.

    Args:
        path: the path, with named values in braces.
        query: the accepted query parameters with a short description; others are ignored.
        example: an example of the path, if it contains values.
        kinds: the available kinds (arena.web.serving.page_kinds).
        owners: whether the page shows more to the owner of a bot, identified by a token.
        private: whether each request gets a rendering of its own, which no other one shares.
        pause: minimum seconds between two renderings of its live parts.
        schema: returns the JSON schemas of values of the JSON data, by name.
    """

    path: str
    draw: Draw
    summary: str
    query: tuple[tuple[str, str], ...] = ()
    example: str = ""
    kinds: tuple[str, ...] = ("html", "json")
    owners: bool = False
    private: bool = False
    pause: float = 0.5
    schema: Callable[[], Mapping[str, Any]] = dict
