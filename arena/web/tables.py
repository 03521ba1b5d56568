"""Tables as spectators see them while they are played."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.news import Position
from arena.scene.film import Film, film
from arena.scene.live import NoPosition, live
from arena.scene.scene import Scene
from arena.store.schema import MatchState

if TYPE_CHECKING:
    from arena.store.listing import Match
    from arena.store.tournaments import Tournament
    from arena.web.state import Web

log = logging.getLogger("arena.web")


@dataclass(frozen=True, slots=True)
class LiveTable:
    """The table of a match: what everybody at it knows, and no more."""

    match: str
    game: str
    position: Position
    scene: Scene

    @property
    def film(self) -> Film:
        """The scene as pages draw it: a film of one."""
        return film([self.scene])

    def to_json(self) -> dict[str, Any]:
        """The position as plain values; the view as the protocol writes it."""
        told = self.position
        return {
            "game": told.game,
            "table": told.table,
            "board": told.board,
            "decision": told.decision,
            "seating": list(told.seating),
            "actors": list(told.actors),
            "view": dict(told.view),
        }


def live_table(web: Web, match: Match, tournament: Tournament) -> LiveTable | None:
    """The table of a match as it was told last; None if nothing is told of it."""
    position = web.newsroom.positions.get(match.id)
    if position is None or match.state is not MatchState.RUNNING:
        return None
    plan = tournament.plan
    try:
        scene = live(plan.game, plan.options, position.view, position.seating, position.actors)
    except NoPosition as error:
        log.warning("a table of %s cannot be shown: %s", match.id, error)
        return None
    return LiveTable(match.id, plan.game, position, scene)


class Screen:
    """Which match the first page shows: the closest one, until it ends."""

    def __init__(self) -> None:
        self._shown = ""

    def pick(self, web: Web) -> Match | None:
        """A match that is being played, of which positions are told if there is one."""
        running = {match.id: match for match in web.sight.running}
        told = {name: match for name, match in running.items() if name in web.newsroom.positions}
        if self._shown in told or (self._shown in running and not told):
            return running[self._shown]
        some = told or running
        if not some:
            return None
        closest = min(some.values(), key=lambda match: (_gap(web, match), match.id))
        self._shown = closest.id
        return closest


def _gap(web: Web, match: Match) -> float:
    """How far apart in strength they are; who has not played yet may be anywhere."""
    forms = {one.id: one.plan.form for one, _ in web.sight.going}
    ladder = web.sight.ladders.get(forms.get(match.tournament, ""))
    if ladder is None:
        return float("inf")
    strengths = {line.entrant: line.strength.value for line in ladder.table.lines if line.matches}
    if not strengths.keys() >= set(match.entrants):
        return float("inf")
    own = [strengths[name] for name in match.entrants]
    return max(own) - min(own)
