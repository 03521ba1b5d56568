"""The history of a ladder: strengths after some of its rounds, and now.

A point is the fit to the matches that counted when a round was over, so later matches do not change
it (`arena.ladders.rater`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final

from arena.ladders import ladder_rows
from arena.ladders.ladder_rows import Ladder, RatingPoint
from arena.store.database import current_time

if TYPE_CHECKING:
    from sqlalchemy import Engine

DAY_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """The ladder after a round.

    Attributes:
        at: the time in seconds since 1970.
        round: number of rounds of all tournaments that were over by then.
        matches: number of matches that had closed.
        values: the strengths of all entrants that had played.
    """

    at: float
    round: int
    matches: int
    values: Mapping[str, RatingPoint]


@dataclass(frozen=True, slots=True)
class RatingHistory:
    """The history of a ladder.

    Attributes:
        points: the points, oldest first.
        yesterday: the places, from 1, of all entrants at the last point that is older than 24
            hours; empty without one.
    """

    points: tuple[HistoryPoint, ...] = ()
    yesterday: Mapping[str, int] = field(default_factory=dict)

    def of(self, entrant: str) -> list[tuple[HistoryPoint, RatingPoint]]:
        """Return the points at which an entrant had played, with its values."""
        return [(p, p.values[entrant]) for p in self.points if entrant in p.values]


def read_rating_history(engine: Engine, ladder: Ladder) -> RatingHistory:
    """Return the stored history of a ladder; its last point is the ladder itself."""
    points = [
        HistoryPoint(first.at, first.round, first.matches, {row.version: row for row in rows})
        for rows in _by_round(ladder_rows.read_history(engine, ladder.scope))
        for first in rows[:1]
    ]
    matches, newest = ladder.table.matches, max(ladder.seen.values(), default=0.0)
    if matches and (not points or points[-1].matches != matches):
        points.append(_present(ladder, newest, points[-1].round if points else 0))
    return RatingHistory(tuple(points), _places(points, current_time(engine) - DAY_SECONDS))


def _by_round(rows: Iterable[RatingPoint]) -> Iterable[list[RatingPoint]]:
    return (list(group) for _, group in groupby(rows, lambda row: row.round))


def _present(ladder: Ladder, at: float, rounds: int) -> HistoryPoint:
    played = [line for line in ladder.table.lines if line.matches]
    values = {
        line.entrant: RatingPoint(
            rounds,
            at,
            ladder.table.matches,
            line.entrant,
            line.strength.value,
            line.strength.error,
        )
        for line in played
    }
    return HistoryPoint(at, rounds, ladder.table.matches, values)


def _places(points: Iterable[HistoryPoint], until: float) -> dict[str, int]:
    before = [point for point in points if point.at <= until]
    if not before:
        return {}
    values = before[-1].values
    order = sorted(values, key=lambda name: (-values[name].strength, name))
    return {name: place for place, name in enumerate(order, 1)}
