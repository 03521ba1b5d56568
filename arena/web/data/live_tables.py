"""Tables of running matches as spectators see them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.events.messages import Position
from arena.presentation.elements import TableRendering
from arena.presentation.frames import FrameSequence, frame_sequence
from arena.presentation.narration import InvalidPosition, render_view
from arena.store.schema import MatchState

if TYPE_CHECKING:
    from arena.store.matches.listing import Match
    from arena.store.tournaments.tournaments import Tournament
    from arena.web.data.snapshot import ArenaSnapshot

log = logging.getLogger("arena.web")


@dataclass(frozen=True, slots=True)
class LiveTable:
    """The table of a match, limited to the information that all its players have."""

    match: str
    game: str
    position: Position
    scene: TableRendering

    @property
    def film(self) -> FrameSequence:
        """The scene as a frame sequence of length 1, for the templates."""
        return frame_sequence([self.scene])

    def to_json(self) -> dict[str, Any]:
        """Return the position as JSON values; the view is in the protocol's format."""
        position = self.position
        return {
            "game": position.game,
            "table": position.table,
            "board": position.board,
            "decision": position.decision,
            "seating": list(position.seating),
            "actors": list(position.actors),
            "view": dict(position.view),
        }


def live_table(
    positions: Mapping[str, Position], match: Match, tournament: Tournament
) -> LiveTable | None:
    """Return the last published table of a running match; None if it is not available."""
    position = positions.get(match.id)
    if position is None or match.state is not MatchState.RUNNING:
        return None
    plan = tournament.plan
    try:
        scene = render_view(
            plan.game, plan.options, position.view, position.seating, position.actors
        )
    except InvalidPosition as error:
        log.warning("a table of %s cannot be shown: %s", match.id, error)
        return None
    return LiveTable(match.id, plan.game, position, scene)


class FeaturedMatch:
    """Selects the match on the home page: the closest one, until it ends."""

    def __init__(self) -> None:
        self._shown = ""

    def pick(self, snapshot: ArenaSnapshot, positions: Mapping[str, Position]) -> Match | None:
        """Return a running match, preferably one with a published position."""
        running = {match.id: match for match in snapshot.running}
        watched = {name: match for name, match in running.items() if name in positions}
        if self._shown in watched or (self._shown in running and not watched):
            return running[self._shown]
        candidates = watched or running
        if not candidates:
            return None
        closest = min(candidates.values(), key=lambda match: (_gap(snapshot, match), match.id))
        self._shown = closest.id
        return closest


def _gap(snapshot: ArenaSnapshot, match: Match) -> float:
    """Return the strength difference of the entrants; infinite if one has not played yet."""
    forms = {tournament.id: tournament.plan.form for tournament, _ in snapshot.open_tournaments}
    ladder = snapshot.ladders.get(forms.get(match.tournament, ""))
    if ladder is None:
        return float("inf")
    strengths = {line.entrant: line.strength.value for line in ladder.table.lines if line.matches}
    if not strengths.keys() >= set(match.entrants):
        return float("inf")
    shares = [strengths[name] for name in match.entrants]
    return max(shares) - min(shares)
