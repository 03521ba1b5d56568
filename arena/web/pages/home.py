"""Home page: a running match, the first lines of the ladders, the latest results."""

from __future__ import annotations

from typing import Any

from arena.ladders.columns import Rendering, columns_of, to_json
from arena.ladders.ladder_columns import LADDER
from arena.store.matches import listing, results
from arena.store.tournaments import challenges, tournaments
from arena.tournaments import json_values
from arena.web.data.featured_replay import featured_replay
from arena.web.data.time_estimates import TimeEstimates
from arena.web.data.web_state import WebState
from arena.web.page import Page, PageRequest
from arena.web.pages import ladder
from arena.web.pages.live import shown_table
from arena.web.pages.tournaments import TournamentLine, is_endless
from referee.games.registry import GAMES
from referee.presentation.registry import presentation_of

TOP = 3
"""Number of lines of each ladder."""
_LATEST = 5
_ENDED = 3


def home_page(web: WebState, page_request: PageRequest) -> Page:
    snapshot = web.snapshot
    on_screen = shown_table(web)
    featured = featured_replay(web.engine) if on_screen.table is None else None
    tops = [
        (standing.scope.name, ladder.lines(snapshot, standing)[:TOP])
        for standing in snapshot.ladders.values()
    ]
    # The ladder of the shown game comes first.
    tops.sort(key=lambda top: top[0] != on_screen.form)
    open_ladders = [
        tournament
        for tournament, _ in snapshot.open_tournaments
        if tournament.plan.settings.get("open") is True
    ]
    latest = listing.latest(web.engine, _LATEST)
    return Page(
        title="Poke arena",
        template="home.html",
        model={
            "match": on_screen.match,
            "shown": on_screen.table,
            "form": on_screen.form,
            "featured": featured,
            "delay": web.settings.delay,
            "tops": tops,
            "top_columns": columns_of(LADDER, Rendering.TOP),
            "open_ladders": open_ladders,
            "games": list(GAMES.values()),
            "about": presentation_of,
            "matches": len(snapshot.running),
            **_tournaments(web),
            "latest": latest,
            "winners": results.winners(web.engine, [match.id for match in latest]),
        },
        data={
            "ladders": {form: [to_json(LADDER, line) for line in lines] for form, lines in tops},
            "open_ladders": {ladder.plan.ladder: ladder.id for ladder in open_ladders},
            "running": [json_values.match(running) for running in snapshot.running],
            "shown": on_screen.to_json(),
            "featured": featured.to_json() if featured else None,
            "tournaments": [json_values.tournament(*each) for each in snapshot.open_tournaments],
            "latest": [json_values.match(closed) for closed in latest],
        },
        parts=("home-table", "home-now", "home-tops", "home-latest"),
        topics=on_screen.topics,
        feed_link=page_request.links.to("tournaments.atom"),
    )


def _tournaments(web: WebState) -> dict[str, Any]:
    """Return the open tournaments, and the latest closed ones with their champions."""
    snapshot = web.snapshot
    closed = [
        (tournament, tournaments.progress(web.engine, tournament.id))
        for tournament in tournaments.last_closed(web.engine, _ENDED, without=challenges.FORMAT)
    ]
    closed_ids = {tournament.id for tournament, _ in closed}
    return {
        "going": [
            TournamentLine(
                tournament,
                progress,
                snapshot.time_estimates.get(tournament.id, TimeEstimates()),
            )
            for tournament, progress in snapshot.open_tournaments
            if not is_endless(tournament)
            # The snapshot may be older than the list of closed tournaments.
            and tournament.id not in closed_ids
        ],
        "ended": [tournament for tournament, _ in closed],
        "champions": web.champions.of(closed),
    }
