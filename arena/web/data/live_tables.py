"""Tables of running matches as spectators see them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from arena.presentation.frames import FrameSequence, frame_sequence
from arena.presentation.narration import InvalidPosition, public_actions, render_view
from arena.store.events.messages import Position
from arena.store.schema import OPEN, MatchState
from arena.web.data.win_probabilities import LiveProbability
from referee.presentation.elements import (
    FaceUpCard,
    GridPiece,
    PublicAction,
    SeatRendering,
    TableRendering,
)

if TYPE_CHECKING:
    from arena.store.matches.listing import Match
    from arena.store.tournaments.tournaments import Tournament
    from arena.web.data.snapshot import ArenaSnapshot

log = logging.getLogger("arena.web")

LOG_LINES: Final = 8
"""Number of actions that the log of a live table shows."""
_MOST_BEHIND: Final = 3
"""Decisions after which a win probability is too old to be shown."""
_CLEAR: Final = 12
"""Number of open cards that is best to look at."""


@dataclass(frozen=True, slots=True)
class LiveClock:
    """The clock of a seat.

    Args:
        bank_ms: milliseconds left in its bank when the position was reached.
    """

    seat: int
    bank_ms: int
    is_running: bool


@dataclass(frozen=True, slots=True)
class LiveSide:
    """A side of the game that is shown, with its running score.

    Args:
        lead: its points more than the best other side; None if it does not lead alone.
        clocks: the clocks of its seats; empty if unknown.
        notes: the latest notes of its seats; empty unless the organiser shows them.
    """

    seats: tuple[int, ...]
    names: tuple[str, ...]
    score: int
    lead: int | None
    acts: bool
    clocks: tuple[LiveClock, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SideProbability:
    """The win probability of a side at a live table, with its place in the bar, in percent."""

    seats: tuple[int, ...]
    names: tuple[str, ...]
    start: float
    percent: float


@dataclass(frozen=True)
class LiveTable:
    """The table of a match, limited to the information that all its players have."""

    match: str
    game: str
    position: Position
    rendering: TableRendering
    log: tuple[PublicAction, ...]
    """The last actions of the game, newest first."""
    allowance_ms: int
    """Milliseconds of each decision that do not reduce the bank."""
    since: float
    """When the position was published, in seconds since 1970; 0 if nobody is thinking."""
    probability: LiveProbability | None = None
    """The last computed win probability of the game; None without one."""
    no_probability: str = ""
    """Why the table never has a win probability; empty if it may have one."""

    @cached_property
    def frames(self) -> FrameSequence:
        """A frame sequence of length 1."""
        return frame_sequence([self.rendering])

    @property
    def sides(self) -> tuple[LiveSide, ...]:
        """The sides of the game with their scores, by first seat."""
        return live_sides(self.rendering.seats, self.position)

    @property
    def chances(self) -> tuple[SideProbability, ...]:
        """The win probability of each side, by first seat; empty without a recent one."""
        if (
            self.probability is None
            or self.position.decision - self.probability.decision > _MOST_BEHIND
        ):
            return ()
        chances, start = [], 0.0
        for side in self.sides:
            percent = 100 * self.probability.by_seat[side.seats[0]][0]
            chances.append(SideProbability(side.seats, side.names, start, percent))
            start += percent
        return tuple(chances)

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
            "scores": [seat.score for seat in self.rendering.seats],
            "bank_ms": list(position.bank_ms),
            "allowance_ms": self.allowance_ms,
            "log": [{"seat": action.seat, "action": action.phrase} for action in self.log],
            "win_probability": self.probability.to_json() if self.probability else None,
        }


def live_sides(seats: Sequence[SeatRendering], position: Position) -> tuple[LiveSide, ...]:
    """Return the sides of a table with scores, lead, clocks and notes, by first seat."""
    members: dict[int, list[SeatRendering]] = {}
    for seat in seats:
        members.setdefault(seat.side, []).append(seat)
    scores = {side: side_seats[0].score for side, side_seats in members.items()}
    # Messages of earlier releases have no clocks, and most have no notes.
    clocks = dict(enumerate(position.bank_ms))
    notes = dict(enumerate(position.notes))
    sides = []
    for side, side_seats in members.items():
        best = max((score for other, score in scores.items() if other != side), default=0)
        numbers = tuple(seat.number for seat in side_seats)
        sides.append(
            LiveSide(
                seats=numbers,
                names=tuple(seat.name for seat in side_seats),
                score=scores[side],
                lead=scores[side] - best if scores[side] > best else None,
                acts=any(seat.is_to_act for seat in side_seats),
                clocks=tuple(
                    LiveClock(seat, clocks[seat], seat in position.actors)
                    for seat in numbers
                    if seat in clocks
                ),
                notes=tuple(notes[seat] for seat in numbers if notes.get(seat)),
            )
        )
    return tuple(sides)


def live_table(
    positions: Mapping[str, Position],
    match: Match,
    tournament: Tournament,
    since: Mapping[str, float] | None = None,
) -> LiveTable | None:
    """Return the last published table of an open match; None if it is not available.

    Args:
        positions: the last published positions by match.
        since: when these positions were published, in seconds since 1970.
    """
    position = positions.get(match.id)
    if position is None or match.state not in OPEN:
        return None
    plan = tournament.plan
    try:
        rendering = render_view(
            plan.game, plan.options, position.view, position.seating, position.actors
        )
        actions = public_actions(plan.game, position.view)
    except InvalidPosition as error:
        log.warning("a table of %s cannot be shown: %s", match.id, error)
        return None
    return LiveTable(
        match.id,
        plan.game,
        position,
        rendering,
        tuple(reversed(actions[-LOG_LINES:])),
        plan.clock.allowance_ms,
        (since or {}).get(match.id, 0.0) if match.state is MatchState.RUNNING else 0.0,
    )


class LiveMatches:
    """Assigns running matches to a fixed number of places; a match keeps its place. Thread-safe.

    Args:
        changes: whether a match keeps its place for one game only.
    """

    def __init__(self, places: int = 6, *, changes: bool = False) -> None:
        self._changes = changes
        self._places: list[tuple[str, int] | None] = [None] * places
        self._lock = Lock()

    def places(
        self, snapshot: ArenaSnapshot, positions: Mapping[str, Position]
    ) -> tuple[Match | None, ...]:
        """Return the match at each place; None for free places.

        Matches with a published position fill the free places, the closest match first. If
        matches change, those come first whose cards are best to look at: neither few nor many.
        """
        watched = {
            (match.id, positions[match.id].game if self._changes else 0): match
            for match in snapshot.running
            if match.id in positions
        }
        with self._lock:
            places = [key if key in watched else None for key in self._places]
            if None in places:
                rest = [key for key in watched if key not in places]
                held = snapshot.open_tournaments if self._changes else ()
                by_id = {tournament.id: tournament for tournament, _ in held}
                order = {
                    key: _order(snapshot, positions, match, by_id.get(match.tournament))
                    for key, match in watched.items()
                    if key in rest
                }
                rest.sort(key=order.__getitem__, reverse=True)
                places = [rest.pop() if not key and rest else key for key in places]
            self._places = places
        return tuple(None if key is None else watched[key] for key in places)


def _order(
    snapshot: ArenaSnapshot,
    positions: Mapping[str, Position],
    match: Match,
    tournament: Tournament | None,
) -> tuple[int, float, str]:
    """Return the sort key of a match, in which the cards count only with its tournament."""
    table = live_table(positions, match, tournament) if tournament else None
    cards = open_cards(table.rendering) if table else 0
    return abs(cards - _CLEAR), _gap(snapshot, match), match.id


def open_cards(element: object) -> int:
    """Return the number of cards and dominoes that lie open in a rendering or a part of it."""
    if isinstance(element, FaceUpCard | GridPiece):
        return 1
    if isinstance(element, tuple):
        return sum(map(open_cards, element))
    parts = fields(element) if is_dataclass(element) else ()
    return sum(open_cards(getattr(element, part.name)) for part in parts)


def closest_match(snapshot: ArenaSnapshot) -> Match | None:
    """Return the running match whose entrants differ least in strength; None without one."""
    return min(snapshot.running, key=lambda match: (_gap(snapshot, match), match.id), default=None)


def _gap(snapshot: ArenaSnapshot, match: Match) -> float:
    """Return the strength difference of the entrants; infinite if one has not played yet."""
    forms = {tournament.id: tournament.plan.ladder for tournament, _ in snapshot.open_tournaments}
    ladder = snapshot.ladders.get(forms.get(match.tournament, ""))
    if ladder is None:
        return float("inf")
    strengths = {line.entrant: line.strength.value for line in ladder.table.lines if line.matches}
    if not strengths.keys() >= set(match.entrants):
        return float("inf")
    shares = [strengths[name] for name in match.entrants]
    return max(shares) - min(shares)
