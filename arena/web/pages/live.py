"""Pages of live tables: several side by side, and one for a frame or to lay over a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from arena.store.matches.listing import Match, find_match
from arena.store.schema import OPEN
from arena.store.tournaments import tournaments
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import json_values
from arena.web.data.changes import ARENA, position_of
from arena.web.data.featured_replay import featured_replay
from arena.web.data.live_tables import LiveTable, closest_match
from arena.web.data.web_state import WebState
from arena.web.page import Page, PageRequest

QUERY: Final = (("match", "a match; by default that of the home page"),)
"""The query of a single table."""
OVERLAY_PAUSE: Final = 0.1
"""Minimum seconds between two states of an overlay, which is to be at most 0.3 s behind."""
_OTHERS: Final = 24


@dataclass(frozen=True, slots=True)
class ShownTable:
    """The match whose table is shown.

    Args:
        match: the match; None if no match runs.
        table: its table; None without a position.
    """

    match: Match | None = None
    table: LiveTable | None = None
    form: str = ""
    tournament: str = ""
    """The name of its tournament."""

    @property
    def topics(self) -> frozenset[str]:
        """The topics whose changes concern the page."""
        return frozenset({ARENA} if self.match is None else {ARENA, position_of(self.match.id)})

    def to_json(self) -> dict[str, Any] | None:
        """Return the match and its position as JSON values; None without a position."""
        if self.match is None or self.table is None:
            return None
        return {"match": self.match.id, "position": self.table.to_json()}


def shown_table(web: WebState, name: str = "") -> ShownTable:
    """Return the table of a match, by default of one with open cards; raises NotFound."""
    if name:
        match: Match | None = find_match(web.engine, name)
    else:
        (match,) = web.featured.places(web.snapshot, web.events.positions)
        match = match or closest_match(web.snapshot)
    if match is None:
        return ShownTable()
    tournament = tournaments.find_tournament(web.engine, match.tournament)
    table = web.live_table(match, tournament)
    return ShownTable(match, table, tournament.plan.form, tournament.plan.name)


def live_page(web: WebState, page_request: PageRequest) -> Page:
    places = web.live_matches.places(web.snapshot, web.events.positions)
    going = {tournament.id: tournament for tournament, _ in web.snapshot.open_tournaments}
    tables = {str(place): _live_match(web, match, going) for place, match in enumerate(places)}
    shown = [(each.form, each.table) for each in tables.values() if each.table]
    names = {table.match for _, table in shown}
    others = [match for match in web.snapshot.running if match.id not in names]
    # A match gets a free place with its first position.
    awaited = [match.id for match in others[:_OTHERS]] if len(shown) < len(tables) else []
    featured = featured_replay(web.engine) if not shown else None
    return Page(
        title="Live tables",
        template="live.html",
        model={
            "tables": tables,
            # One table has its cards: each takes up to 40 kB.
            "first": next((key for key, live in tables.items() if live.table), None),
            "others": others[:_OTHERS],
            "more": max(len(others) - _OTHERS, 0),
            "count": len(shown),
            "spectators": web.settings.spectators,
            "featured": featured,
            "delay": web.settings.delay,
        },
        data={
            "tables": [
                {"match": table.match, "form": form, "position": table.to_json()}
                for form, table in shown
            ],
            "featured": featured.to_json() if featured else None,
            "running": [json_values.match(running) for running in web.snapshot.running],
        },
        parts=("live-others", *(f"live-place:{place}" for place in tables)),
        topics=frozenset({ARENA, *(position_of(name) for name in (*names, *awaited))}),
    )


def _live_match(web: WebState, match: Match | None, going: Mapping[str, Tournament]) -> ShownTable:
    if match is None or match.tournament not in going:
        return ShownTable()
    tournament = going[match.tournament]
    return ShownTable(match, web.live_table(match, tournament), tournament.plan.form)


def _table(kind: str, web: WebState, page_request: PageRequest) -> Page:
    """Return the page with only a live table; raises NotFound if the match is unknown."""
    on_screen = shown_table(web, page_request.query.get("match", ""))
    match = on_screen.match
    return Page(
        title="Live table",
        template=f"embed_{kind}.html",
        model={
            "match": match,
            "shown": on_screen.table,
            "form": on_screen.form,
            "tournament": on_screen.tournament,
            "is_over": match is not None and match.state not in OPEN,
            "delay": web.settings.delay,
            "spectators": web.settings.spectators,
        },
        parts=(f"embed-{kind}",),
        topics=on_screen.topics,
    )


embedded_table: Final = partial(_table, "table")
"""The page of a live table for a frame."""
overlay: Final = partial(_table, "overlay")
"""A live table on a transparent page of 1920 x 1080 pixels, to lay over a stream."""
