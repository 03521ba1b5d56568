"""A running match with its table, as home and the pages for frames show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.store.matches.listing import Match, find_match
from arena.store.tournaments import tournaments
from arena.web.data.changes import ARENA, position_of
from arena.web.data.live_tables import LiveTable, closest_match
from arena.web.data.web_state import WebState


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
    """Return the table of a match, by default of the closest running one; raises NotFound."""
    if name:
        match: Match | None = find_match(web.engine, name)
    else:
        (match,) = web.featured.places(web.snapshot, web.events.positions)
        match = match or closest_match(web.snapshot)
    if match is None:
        return ShownTable()
    tournament = tournaments.find_tournament(web.engine, match.tournament)
    table = web.live_table(match, tournament)
    return ShownTable(match, table, tournament.plan.form)
