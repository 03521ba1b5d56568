"""Long lists a page at a time: `?page=2&limit=50`, the same in every form of an answer.

A page of the server says where the next one is in its `Link` header, relative to its own address,
so that `.json` and whatever else was asked for stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from arena.web.page import Ask, BadAsk

QUERY = (
    ("page", "which page of the list, from 1"),
    ("limit", "how many of the list on a page, at most 500"),
)
"""For the `query` of an address (arena.web.routes) that shows a list."""
USUAL = 50
MOST = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wish:
    """Which page of a list is wanted.

    page: from 1. limit: how many on a page. query: what else was asked for.
    """

    page: int
    limit: int
    query: Mapping[str, str]

    @property
    def offset(self) -> int:
        """How many of the list come before it."""
        return (self.page - 1) * self.limit

    def of(self, items: Sequence[T], total: int) -> Piece[T]:
        """The page, cut out already: these items, of so many."""
        return Piece(tuple(items), total, self)

    def cut(self, every: Sequence[T]) -> Piece[T]:
        """The page, cut out of the whole list."""
        return self.of(every[self.offset : self.offset + self.limit], len(every))


@dataclass(frozen=True, slots=True)
class Piece(Generic[T]):
    """A page of a list. `fragments/pager.html` draws the way to the others.

    total: how long the whole list is.
    """

    items: tuple[T, ...]
    total: int
    wish: Wish

    @property
    def number(self) -> int:
        """Which page it is, from 1."""
        return self.wish.page

    @property
    def pages(self) -> int:
        """How many there are, at least one."""
        return max(-(-self.total // self.wish.limit), 1)

    @property
    def previous(self) -> int | None:
        """The page before it, the last one for those who are beyond the end."""
        return min(self.number - 1, self.pages) or None

    @property
    def next(self) -> int | None:
        """The page after it."""
        return self.number + 1 if self.number < self.pages else None

    def to(self, page: int) -> str:
        """The address of another page of it, relative to its own."""
        query = {name: text for name, text in self.wish.query.items() if text and name != "page"}
        return "?" + urlencode({**query, "page": page})

    @property
    def headers(self) -> dict[str, str]:
        """The Link header (RFC 8288); nothing where there is one page."""
        others = (("prev", self.previous), ("next", self.next))
        links = [f'<{self.to(page)}>; rel="{name}"' for name, page in others if page is not None]
        return {"Link": ", ".join(links)} if links else {}

    def to_json(self) -> dict[str, int | None]:
        """Where it is in the list, for programs."""
        return {
            "page": self.number,
            "pages": self.pages,
            "limit": self.wish.limit,
            "total": self.total,
            "next": self.next,
        }


def wanted(ask: Ask, limit: int = USUAL, most: int = MOST) -> Wish:
    """Which page somebody wants; raises BadAsk.

    limit: how many on a page if nothing is said of it. most: how many at the most.
    """
    return Wish(_number(ask, "page", 1, 10**6), _number(ask, "limit", limit, most), ask.query)


def _number(ask: Ask, name: str, usual: int, most: int) -> int:
    text = ask.query.get(name, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or not 1 <= int(text) <= most:
        raise BadAsk(f"{name} is a whole number from 1 to {most}.")
    return int(text)
