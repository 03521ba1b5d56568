"""The history of a ladder: the strengths at the end of each round of its tournaments.

A point is a fit to all matches that had closed by then, so later matches do not change it. The fit
of a large ladder takes many seconds. The number of points is therefore at most about 40, and
smaller for a large ladder: of a long history only every second, fourth, ... round is used. Each
point is fitted once, from the sums of the previous one. Web servers store the history of a long
ladder (`arena.ladders.stored_histories`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sqlalchemy import Engine

from arena.ladders import ladder_sums, stored_histories
from arena.ladders.ladder_key import LadderKey
from arena.ladders.stored_histories import StoredHistory, StoredPoint
from arena.ratings.meetings import Meetings
from arena.ratings.scale import Z95
from arena.ratings.strength.fit import values
from arena.ratings.strength.settings import StrengthSettings
from arena.store.access import audit_log
from arena.store.database import current_time, reading
from arena.store.tournaments import format_history
from arena.store.tournaments.format_history import RoundEnds

POINTS = 40
"""Maximum number of points, apart from the newest."""
MIN_POINTS = 8
"""The limit on points is at least this, however many bots there are."""
WORTH = 10_000
"""Maximum number of values (points times bots)."""
FEWEST_NEW: Final = 5_000
"""A history is stored after at least this many new matches, and ..."""
SHARE: Final = 0.01
"""... after this share of all its matches."""
_HOUR, _DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class HistoryValue:
    """The strength of one entrant at a point, with its standard error, in Elo points."""

    strength: float
    error: float

    @property
    def low(self) -> float:
        """The lower end of its 95 % interval."""
        return self.strength - Z95 * self.error

    @property
    def high(self) -> float:
        """The upper end of its 95 % interval."""
        return self.strength + Z95 * self.error


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """The ladder at the end of a round.

    Attributes:
        at: the time in seconds since 1970.
        round: number of rounds of all tournaments that were over by then.
        matches: number of matches that had closed.
        values: strengths of all entrants that had played.
    """

    at: float
    round: int
    matches: int
    values: Mapping[str, HistoryValue]


@dataclass(frozen=True, slots=True)
class RatingHistory:
    """The history of a ladder.

    Attributes:
        points: the points, oldest first.
        yesterday: the places, from 1, of all entrants 24 to 25 hours ago; empty if no match had
            closed by then.
    """

    points: tuple[HistoryPoint, ...] = ()
    yesterday: Mapping[str, int] = field(default_factory=dict)

    def of(self, entrant: str) -> list[tuple[HistoryPoint, HistoryValue]]:
        """Return the points at which an entrant had played, with its values."""
        return [(p, p.values[entrant]) for p in self.points if entrant in p.values]


class RatingHistories:
    """Computes and caches the histories of ladders; each point is fitted only once."""

    def __init__(self, engine: Engine, points: int = POINTS) -> None:
        self._engine = engine
        self._points = points
        self._kept: dict[str, _CachedHistory] = {}

    def past(self, scope: LadderKey, seconds: float = math.inf) -> RatingHistory | None:
        """Return the current history of a ladder.

        Args:
            scope: the ladder.
            seconds: time limit, after which no further fit begins.

        Returns:
            The history; None if the limit expired. The next call continues the computation.
        """
        until, fitted = time.monotonic() + seconds, False
        engine, of = self._engine, scope.tournaments
        kept = self._kept.get(scope.form)
        with reading(engine) as connection:
            corrections = audit_log.corrections(connection)
        facts = (corrections, scope.anchors)
        if kept is None or not kept.holds(of, facts):
            kept = self._kept[scope.form] = _begun(engine, scope, facts)
        kept.of, kept.scope = of, scope
        bots = max(format_history.entrants(engine, of), 1)
        most = min(self._points, max(WORTH // bots, MIN_POINTS))
        points = []
        for number, at in chosen(kept.ends.now(engine, of), most):
            known = kept.points.get(at)
            if known is None:
                if fitted and time.monotonic() > until:
                    return None
                fitted = True
                known = kept.points[at] = _point(at, kept.sums.to(engine, of, at), scope.strength)
            points.append(known if known.round == number else replace(known, round=number))
        kept.points = {point.at: point for point in points}
        cut = current_time(engine) // _HOUR * _HOUR - _DAY
        if kept.yesterday is None or kept.eve.at != cut:
            if fitted and time.monotonic() > until:
                return None
            if kept.eve.at < kept.sums.at <= cut:
                kept.eve = _MovingSums(kept.sums.at, kept.sums.meetings)
            kept.yesterday = _places(kept.eve.to(engine, of, cut), scope.strength)
        return RatingHistory(tuple(points), kept.yesterday)

    def store(self, fewest: int | None = None) -> None:
        """Store the histories that have many more matches than the stored ones.

        Args:
            fewest: number of new matches from which a history is stored; `FEWEST_NEW` by default.
        """
        fewest = FEWEST_NEW if fewest is None else fewest
        for kept in self._kept.values():
            sums = kept.storable_sums
            if kept.scope is None or sums.matches - kept.stored < max(fewest, SHARE * sums.matches):
                continue
            points = [
                StoredPoint(
                    point.at,
                    point.round,
                    point.matches,
                    {name: (value.strength, value.error) for name, value in point.values.items()},
                )
                for point in kept.points.values()
            ]
            history = StoredHistory(
                kept.of, kept.corrections, points, kept.ends.finished, sums.at, sums.meetings
            )
            stored_histories.store(self._engine, kept.scope, history)
            kept.stored = sums.matches


def chosen(ends: Sequence[float], most: int) -> list[tuple[int, float]]:
    """Select the rounds to show, by number from 1: every one, every second, every fourth, ...

    The step is the least that selects at most `most` rounds. The newest round is always included.
    """
    step = 1
    while len(ends) > step * most:
        step *= 2
    every = list(enumerate(ends, 1))
    return [(number, at) for number, at in every if number % step == 0 or number == len(every)]


class _MovingSums:
    """The sums of meetings up to a time that can be moved."""

    def __init__(self, at: float = -math.inf, meetings: Meetings | None = None) -> None:
        self.at = at
        self.meetings = meetings or Meetings()

    @property
    def matches(self) -> int:
        """The number of matches."""
        return self.meetings.matches

    def to(self, engine: Engine, of: Sequence[str], at: float) -> Meetings:
        """Return the sums of all matches of some tournaments that had closed at a time."""
        if self.at <= at:
            self.meetings += ladder_sums.meetings(engine, of, self.at, at)
        # The time moved backwards, or a match became visible later than one that closed after it.
        if self.matches != format_history.closed(engine, of, at):
            self.meetings = ladder_sums.meetings(engine, of, until=at)
        self.at = at
        return self.meetings


@dataclass(slots=True)
class _CachedHistory:
    """The cache of a ladder: its tournaments and anchors, points by time, and sums.

    `scope` is the ladder's key, and `stored` the number of matches in the stored sums.
    """

    of: tuple[str, ...] = ()
    corrections: int = 0
    anchors: tuple[str, ...] = ()
    points: dict[float, HistoryPoint] = field(default_factory=dict)
    sums: _MovingSums = field(default_factory=_MovingSums)
    eve: _MovingSums = field(default_factory=_MovingSums)
    yesterday: Mapping[str, int] | None = None
    ends: RoundEnds = field(default_factory=RoundEnds)
    scope: LadderKey | None = None
    stored: int = 0

    def holds(self, of: Sequence[str], facts: tuple[int, tuple[str, ...]]) -> bool:
        """Return whether the points hold for these tournaments, corrections and anchors.

        A tournament that began later does not affect earlier points.
        """
        return of[: len(self.of)] == self.of and facts == (self.corrections, self.anchors)

    @property
    def storable_sums(self) -> _MovingSums:
        """The sums from which a process that starts continues both `sums` and `eve`.

        These are the older ones. If most matches are younger than a day, or if points are missing,
        reading all matches for `eve` again costs less.
        """
        has_eve = self.yesterday is not None and 2 * self.eve.matches >= self.sums.matches
        return min((self.sums, self.eve), key=lambda sums: sums.at) if has_eve else self.sums


def _begun(engine: Engine, scope: LadderKey, facts: tuple[int, tuple[str, ...]]) -> _CachedHistory:
    """Return the stored history of a ladder, or an empty one."""
    corrections, anchors = facts
    kept = _CachedHistory(corrections=corrections, anchors=anchors)
    stored = stored_histories.find(engine, scope)
    if stored is None or stored.corrections != corrections:
        return kept
    kept.of = stored.tournaments
    kept.points = {point.at: _restored(point) for point in stored.points}
    kept.sums = _MovingSums(stored.at, stored.sums)
    kept.eve = _MovingSums(stored.at, stored.sums)
    kept.ends = RoundEnds(stored.finished)
    kept.stored = stored.sums.matches
    return kept


def _restored(point: StoredPoint) -> HistoryPoint:
    values = {name: HistoryValue(*value) for name, value in point.values.items()}
    return HistoryPoint(point.at, point.round, point.matches, values)


def _point(at: float, meetings: Meetings, settings: StrengthSettings) -> HistoryPoint:
    by_name = {name: HistoryValue(*value) for name, value in values(meetings, settings).items()}
    return HistoryPoint(at, 0, meetings.matches, by_name)


def _places(meetings: Meetings, settings: StrengthSettings) -> dict[str, int]:
    by_name = values(meetings, settings)
    order = sorted(by_name, key=lambda name: (-by_name[name][0], name))
    return {name: place for place, name in enumerate(order, 1)}
