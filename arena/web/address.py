"""The address of a page, with what it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arena.web.data.state import Web
from arena.web.page import Ask, Page

Draw = Callable[[Web, Ask], Page]


@dataclass(frozen=True, slots=True)
class Address:
    """A page: its address, what draws it, and what it is, in a sentence.

    query: what may stand behind the question mark, with a few words each; nothing else is seen.
    example: how such an address looks, where the path has values.
    owners: whether who sends the token of an owner of bots is shown more.
    kinds: in which forms it is to be had (arena.web.serving.content_types).
    """

    path: str
    draw: Draw
    summary: str
    query: tuple[tuple[str, str], ...] = ()
    example: str = ""
    kinds: tuple[str, ...] = ("html", "json")
    owners: bool = False
