"""Home page: running matches and the first lines of the ladders."""

from __future__ import annotations

from typing import Any

from arena.store.matches import listing, results
from arena.store.tournaments import challenges, tournaments
from arena.tournaments import json_values
from arena.web.data.changes import ARENA, position_of
from arena.web.data.featured_replay import featured_replay
from arena.web.data.live_tables import LiveTable, live_table
from arena.web.data.time_estimates import TimeEstimates
from arena.web.data.web_state import WebState
from arena.web.page import Page, PageRequest
from arena.web.pages import ladder
from arena.web.pages.tournaments import TournamentLine
from referee.games.registry import GAMES

TOP = 5
"""Number of lines of each ladder."""
_RUNNING = 8
_LATEST = 6
_ENDED = 3


def page(web: WebState, page_request: PageRequest) -> Page:
    """Return the home page."""
    snapshot = web.snapshot
    tops = [
        (standing.scope.form, ladder.lines(snapshot, standing)[:TOP])
        for standing in snapshot.ladders.values()
    ]
    match = web.featured.pick(web.snapshot, web.events.positions)
    shown: LiveTable | None = None
    topics = {ARENA}
    on_screen: dict[str, Any] = {"match": None, "shown": None, "form": ""}
    if match is not None:
        tournament = tournaments.find(web.engine, match.tournament)
        shown = live_table(web.events.positions, match, tournament, web.events.shown_since)
        on_screen = {"match": match, "shown": shown, "form": tournament.plan.form}
        topics.add(position_of(match.id))
    open_ladders = [
        tournament
        for tournament, _ in snapshot.open_tournaments
        if tournament.plan.settings.get("open") is True
    ]
    others = [other for other in snapshot.running if match is None or other.id != match.id]
    latest = listing.latest(web.engine, _LATEST)
    ended = [
        (tournament, tournaments.progress(web.engine, tournament.id))
        for tournament in tournaments.last_closed(web.engine, _ENDED, without=challenges.FORMAT)
    ]
    closed_ids = {tournament.id for tournament, _ in ended}
    featured = featured_replay(web.engine) if shown is None else None
    return Page(
        title="Poke arena",
        template="home.html",
        model={
            **on_screen,
            "featured": featured,
            "delay": web.settings.delay,
            "tops": tops,
            "open_ladders": open_ladders,
            "games": list(GAMES.values()),
            "others": others[:_RUNNING],
            "more": max(len(others) - _RUNNING, 0),
            "going": [
                TournamentLine(
                    tournament,
                    progress,
                    snapshot.time_estimates.get(tournament.id, TimeEstimates()),
                )
                for tournament, progress in snapshot.open_tournaments
                # The snapshot may be older than the list of closed tournaments.
                if tournament.id not in closed_ids
            ],
            "latest": latest,
            "ended": [tournament for tournament, _ in ended],
            "champions": web.champions.of(ended),
            "winners": results.winners(web.engine, [match.id for match in latest]),
        },
        data={
            "ladders": {form: [line.to_json() for line in lines] for form, lines in tops},
            "open_ladders": {ladder.plan.form: ladder.id for ladder in open_ladders},
            "running": [json_values.match(running) for running in snapshot.running],
            "shown": {"match": match.id, "position": shown.to_json()} if match and shown else None,
            "featured": featured.to_json() if featured else None,
            "tournaments": [json_values.tournament(*each) for each in snapshot.open_tournaments],
            "latest": [json_values.match(closed) for closed in latest],
        },
        parts=("home-table", "home-now", "home-tops", "home-latest"),
        topics=frozenset(topics),
        feed_link=page_request.links.to("tournaments.atom"),
    )
