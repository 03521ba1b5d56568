"""The history of a ladder: what the strengths were when each round of its tournaments was over.

A point is a fit to all matches that had closed by then, so it never changes, whatever is played
later. There are never more than some forty points, and fewer of a ladder that is large, because a
fit takes the cube of its bots: of a longer history every second round is left out, or three of
four, and so on. Each is fitted once, from the sums of the one before it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Engine

from arena.ladders import folds
from arena.ladders.key import Scope
from arena.ratings.meetings import Meetings
from arena.ratings.scale import Z95
from arena.ratings.strength.fit import values
from arena.store.tournaments import rounds

POINTS = 40
"""At most so many points, and the newest."""
FEWEST = 8
"""So many at least where bots are many."""
WORTH = 10_000
"""And at most so many values."""
_HOUR, _DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class Value:
    """The strength of one entrant at a point. error: its standard error."""

    strength: float
    error: float

    @property
    def low(self) -> float:
        """Where its 95 % interval begins."""
        return self.strength - Z95 * self.error

    @property
    def high(self) -> float:
        """Where its 95 % interval ends."""
        return self.strength + Z95 * self.error


@dataclass(frozen=True, slots=True)
class Point:
    """The ladder when a round was over.

    at: when, in seconds since 1970. round: how many rounds were over by then, of all tournaments.
    matches: how many matches had closed. values: of everyone who had played.
    """

    at: float
    round: int
    matches: int
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Past:
    """The history of a ladder.

    points: the oldest first. yesterday: everyone's place from 1 as it was 24 to 25 hours ago;
    empty if nothing had been played by then.
    """

    points: tuple[Point, ...] = ()
    yesterday: Mapping[str, int] = field(default_factory=dict)

    def of(self, entrant: str) -> list[tuple[Point, Value]]:
        """The points at which an entrant had played."""
        return [(p, p.values[entrant]) for p in self.points if entrant in p.values]


class Historian:
    """Keeps the histories of ladders up to date; what is fitted is not fitted again."""

    def __init__(self, engine: Engine, points: int = POINTS) -> None:
        self._engine = engine
        self._points = points
        self._kept: dict[str, _Kept] = {}

    def past(self, scope: Scope, seconds: float = math.inf) -> Past | None:
        """The history of a ladder as it is now.

        seconds: after so long no further fit is begun; None if there is more to do, by the next
            call.
        """
        until, fitted = time.monotonic() + seconds, False
        engine, of = self._engine, scope.tournaments
        kept = self._kept.get(scope.form)
        # A tournament that was begun later has changed nothing of what was before.
        if kept is None or of[: len(kept.of)] != kept.of:
            kept = self._kept[scope.form] = _Kept()
        kept.of = of
        bots = max(rounds.entrants(engine, of), 1)
        most = min(self._points, max(WORTH // bots, FEWEST))
        points = []
        for number, at in chosen(rounds.ends(engine, of), most):
            known = kept.points.get(at)
            if known is None:
                if fitted and time.monotonic() > until:
                    return None
                fitted = True
                known = kept.points[at] = _point(at, kept.sums.to(engine, of, at))
            points.append(known if known.round == number else replace(known, round=number))
        kept.points = {point.at: point for point in points}
        cut = rounds.clock(engine) // _HOUR * _HOUR - _DAY
        if kept.eve.at != cut:
            if fitted and time.monotonic() > until:
                return None
            kept.yesterday = _places(kept.eve.to(engine, of, cut))
        return Past(tuple(points), kept.yesterday)


def chosen(ends: Sequence[float], most: int) -> list[tuple[int, float]]:
    """The rounds that are shown, by their number from 1: every one, every second, every fourth...

    That many that no more than `most` are shown; and the newest.
    """
    step = 1
    while len(ends) > step * most:
        step *= 2
    every = list(enumerate(ends, 1))
    return [(number, at) for number, at in every if number % step == 0 or number == len(every)]


class _Sums:
    """The meetings up to a time, which is moved on."""

    def __init__(self) -> None:
        self.at = -math.inf
        self._met = Meetings()

    def to(self, engine: Engine, of: Sequence[str], at: float) -> Meetings:
        """The meetings of all matches of some tournaments that had closed at a time."""
        if self.at <= at:
            self._met += folds.meetings(engine, of, self.at, at)
        # Earlier than before, or a match was seen later than one that closed after it.
        if self._met.matches != rounds.closed(engine, of, at):
            self._met = folds.meetings(engine, of, until=at)
        self.at = at
        return self._met


@dataclass(slots=True)
class _Kept:
    """What is known of a ladder: of which tournaments, its points by their time, and sums."""

    of: tuple[str, ...] = ()
    points: dict[float, Point] = field(default_factory=dict)
    sums: _Sums = field(default_factory=_Sums)
    eve: _Sums = field(default_factory=_Sums)
    yesterday: Mapping[str, int] = field(default_factory=dict)


def _point(at: float, met: Meetings) -> Point:
    found = {name: Value(*told) for name, told in values(met).items()}
    return Point(at, 0, met.matches, found)


def _places(met: Meetings) -> dict[str, int]:
    found = values(met)
    order = sorted(found, key=lambda name: (-found[name][0], name))
    return {name: place for place, name in enumerate(order, 1)}
