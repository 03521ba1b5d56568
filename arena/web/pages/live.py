"""Page of the live tables: several running matches side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.store.matches.listing import Match
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import json_values
from arena.web.data.changes import ARENA, position_of
from arena.web.data.featured_replay import featured_replay
from arena.web.data.live_tables import LiveTable
from arena.web.data.web_state import WebState
from arena.web.page import Page, PageRequest

_OTHERS = 24


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """A running match with its table."""

    match: Match
    form: str
    shown: LiveTable


def live_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the page of the live tables."""
    places = web.live_matches.places(web.snapshot, web.events.positions)
    going = {tournament.id: tournament for tournament, _ in web.snapshot.open_tournaments}
    tables = {str(place): _live_match(web, match, going) for place, match in enumerate(places)}
    shown = [table for table in tables.values() if table is not None]
    names = {table.match.id for table in shown}
    others = [match for match in web.snapshot.running if match.id not in names]
    # A match gets a free place with its first position.
    awaited = [match.id for match in others[:_OTHERS]] if None in tables.values() else []
    featured = featured_replay(web.engine) if not shown else None
    return Page(
        title="Live tables",
        template="live.html",
        model={
            "tables": tables,
            # One table has its cards: each takes up to 40 kB.
            "first": next((key for key, table in tables.items() if table is not None), None),
            "others": others[:_OTHERS],
            "more": max(len(others) - _OTHERS, 0),
            "count": len(shown),
            "spectators": web.settings.spectators,
            "featured": featured,
            "delay": web.settings.delay,
        },
        data={
            "tables": [
                {"match": table.match.id, "form": table.form, "position": table.shown.to_json()}
                for table in shown
            ],
            "featured": featured.to_json() if featured else None,
            "running": [json_values.match(running) for running in web.snapshot.running],
        },
        parts=("live-others", *(f"live-place:{place}" for place in tables)),
        topics=frozenset({ARENA, *(position_of(name) for name in (*names, *awaited))}),
    )


def _live_match(
    web: WebState, match: Match | None, going: Mapping[str, Tournament]
) -> LiveMatch | None:
    if match is None or match.tournament not in going:
        return None
    tournament = going[match.tournament]
    shown = web.live_table(match, tournament)
    return None if shown is None else LiveMatch(match, tournament.plan.form, shown)
