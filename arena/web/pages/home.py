"""Home page: running matches and the first lines of the ladders."""

from __future__ import annotations

from typing import Any

from arena.store.matches import listing
from arena.store.tournaments import tournaments
from arena.tournaments import json_values
from arena.web.data.changes import ARENA, position_of
from arena.web.data.live_tables import LiveTable, live_table
from arena.web.data.state import Web
from arena.web.data.time_estimates import TimeEstimates
from arena.web.page import Ask, Page
from arena.web.pages import ladder
from arena.web.pages.tournaments import Line
from referee.games.registry import GAMES

TOP = 5
"""Number of lines of each ladder."""
_RUNNING = 8
_LATEST = 6


def page(web: Web, ask: Ask) -> Page:
    """Return the home page."""
    sight = web.sight
    tops = [
        (standing.scope.form, ladder.lines(sight, standing)[:TOP])
        for standing in sight.ladders.values()
    ]
    match = web.screen.pick(web.sight, web.newsroom.positions)
    shown: LiveTable | None = None
    topics = {ARENA}
    on_screen: dict[str, Any] = {"match": None, "shown": None, "form": ""}
    if match is not None:
        tournament = tournaments.find(web.engine, match.tournament)
        shown = live_table(web.newsroom.positions, match, tournament)
        on_screen = {"match": match, "shown": shown, "form": tournament.plan.form}
        topics.add(position_of(match.id))
    others = [other for other in sight.running if match is None or other.id != match.id]
    latest = listing.latest(web.engine, _LATEST)
    return Page(
        title="Poke arena",
        template="home.html",
        model={
            **on_screen,
            "delay": web.settings.delay,
            "tops": tops,
            "games": list(GAMES.values()),
            "others": others[:_RUNNING],
            "more": max(len(others) - _RUNNING, 0),
            "going": [
                Line(tournament, progress, sight.outlooks.get(tournament.id, TimeEstimates()))
                for tournament, progress in sight.going
            ],
            "latest": latest,
        },
        data={
            "ladders": {form: [line.to_json() for line in lines] for form, lines in tops},
            "running": [json_values.match(running) for running in sight.running],
            "shown": {"match": match.id, "position": shown.to_json()} if match and shown else None,
            "tournaments": [json_values.tournament(*each) for each in sight.going],
            "latest": [json_values.match(closed) for closed in latest],
        },
        parts=("home-table", "home-now", "home-tops", "home-latest"),
        topics=frozenset(topics),
    )
