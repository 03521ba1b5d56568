"""The addresses of all pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arena.web.page import Ask, Page
from arena.web.pages import home, ladder
from arena.web.state import Web

Draw = Callable[[Web, Ask], Page]


@dataclass(frozen=True, slots=True)
class Address:
    """A page: its address, what draws it, and what it is, in a sentence.

    query: what may stand behind the question mark, with a sentence each.
    example: an address to try, where the path has values.
    """

    path: str
    draw: Draw
    summary: str
    query: tuple[tuple[str, str], ...] = ()
    example: str = ""


PAGES: tuple[Address, ...] = (
    Address("/", home.page, "The ladders' tops, and what is being played."),
    Address(
        "/ladders/{form}",
        ladder.page,
        "The ladder of a form of a game.",
        query=(
            ("sort", "the column it is ordered by, with a minus the other way round"),
            ("find", "only bots of which the name, author or language holds this"),
        ),
        example="/ladders/poke",
    ),
)
