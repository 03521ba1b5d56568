"""The first page: the tops of the ladders, and what is being played."""

from __future__ import annotations

from arena import plain
from arena.web.page import Ask, Page
from arena.web.pages import ladder
from arena.web.state import Web

TOP = 5
"""So many lines of each ladder."""


def page(web: Web, ask: Ask) -> Page:
    """The page."""
    sight = web.sight
    tops = [(one.scope.form, ladder.lines(sight, one)[:TOP]) for one in sight.ladders.values()]
    return Page(
        title="Poke arena",
        template="home.html",
        model={"tops": tops, "running": sight.running, "going": sight.going},
        data={
            "ladders": {form: [line.to_json() for line in lines] for form, lines in tops},
            "running": [plain.match(match) for match in sight.running],
            "tournaments": [plain.tournament(*each) for each in sight.going],
        },
        parts=("home-now", "home-tops"),
    )
