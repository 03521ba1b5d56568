"""Pagination of long lists in all kinds of responses: `?page=2&limit=50`.

The `Link` header of a response contains the next page as a URL relative to its own address. It
preserves the extension, such as `.json`, and other query parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from arena.web.page import InvalidQuery, PageRequest

QUERY = (
    ("page", "page of the list, from 1"),
    ("limit", "items per page, at most 500"),
)
"""Query parameters of an address (arena.web.routes) that shows a list."""
DEFAULT_LINES = 50
MAX_LINES = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageSelection:
    """The requested page of a list.

    Args:
        page: the page number, from 1.
        limit: the number of items per page.
        query: all query parameters of the request.
    """

    page: int
    limit: int
    query: Mapping[str, str]

    @property
    def offset(self) -> int:
        """Number of items on the previous pages."""
        return (self.page - 1) * self.limit

    def of(self, items: Sequence[T], total: int) -> ListPage[T]:
        """Return the page with these items of a list of length `total`."""
        return ListPage(tuple(items), total, self)

    def cut(self, every: Sequence[T]) -> ListPage[T]:
        """Return the page, taken from the whole list."""
        return self.of(every[self.offset : self.offset + self.limit], len(every))


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """A page of a list; `fragments/pager.html` renders the links to the other pages.

    Args:
        total: the length of the whole list.
    """

    items: tuple[T, ...]
    total: int
    selection: PageSelection

    @property
    def number(self) -> int:
        """Page number, from 1."""
        return self.selection.page

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(-(-self.total // self.selection.limit), 1)

    @property
    def previous(self) -> int | None:
        """Previous page; the last page if this one is beyond the end; None on the first page."""
        return min(self.number - 1, self.pages) or None

    @property
    def next(self) -> int | None:
        """Next page; None on the last page."""
        return self.number + 1 if self.number < self.pages else None

    def to(self, page: int) -> str:
        """Return the relative URL of another page of the list."""
        query = {
            name: text for name, text in self.selection.query.items() if text and name != "page"
        }
        return "?" + urlencode({**query, "page": page})

    @property
    def headers(self) -> dict[str, str]:
        """The Link header (RFC 8288); empty for a single page."""
        others = (("prev", self.previous), ("next", self.next))
        links = [f'<{self.to(page)}>; rel="{name}"' for name, page in others if page is not None]
        return {"Link": ", ".join(links)} if links else {}

    def to_json(self) -> dict[str, int | None]:
        """Return the position in the list as JSON values."""
        return {
            "page": self.number,
            "pages": self.pages,
            "limit": self.selection.limit,
            "total": self.total,
            "next": self.next,
        }


def limit_of(page_request: PageRequest) -> int:
    """Return the requested number of items per page; raises InvalidQuery."""
    return _number(page_request, "limit", DEFAULT_LINES, MAX_LINES)


def selection_of(
    page_request: PageRequest, limit: int = DEFAULT_LINES, most: int = MAX_LINES
) -> PageSelection:
    """Parse the requested page; raises InvalidQuery.

    Args:
        limit: the default number of items per page.
        most: the maximum number of items per page.
    """
    return PageSelection(
        _number(page_request, "page", 1, 10**6),
        _number(page_request, "limit", limit, most),
        page_request.query,
    )


def _number(page_request: PageRequest, name: str, usual: int, most: int) -> int:
    text = page_request.query.get(name, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or not 1 <= int(text) <= most:
        raise InvalidQuery(f"{name} must be a whole number from 1 to {most}.")
    return int(text)
