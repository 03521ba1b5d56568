"""The address of a page with its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arena.web.data.web_state import WebState
from arena.web.page import Page, PageRequest

Draw = Callable[[WebState, PageRequest], Page]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page's path, its function and its parameters.

    Args:
        path: the path, with named values in braces.
        draw: creates the page.
        summary: a sentence that describes the page.
        query: the accepted query parameters with a short description; others are ignored.
        example: an example of the path, if it contains values.
        kinds: the available kinds (arena.web.serving.content_types).
        owners: whether the page shows more to the owner of a bot, identified by a token.
    """

    path: str
    draw: Draw
    summary: str
    query: tuple[tuple[str, str], ...] = ()
    example: str = ""
    kinds: tuple[str, ...] = ("html", "json")
    owners: bool = False
