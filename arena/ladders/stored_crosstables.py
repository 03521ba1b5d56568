"""Crosstables of ladders, with the related statistics of pairs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from arena.ladders import ladder_values

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.key import Scope
    from arena.ratings.crosstable import Crosstable
    from arena.ratings.gifts import Gift
    from arena.ratings.meetings import Meetings
    from arena.ratings.standings import Table
    from arena.ratings.strength.fit import Strengths


@dataclass(frozen=True, slots=True)
class Matrix:
    """The crosstable of a ladder in order of strength.

    Attributes:
        table: the crosstable.
        strengths: the fitted strengths, with their differences.
        gifts: the tests for gifts (`arena.ratings.gifts`).
    """

    table: Crosstable
    strengths: Strengths
    gifts: tuple[Gift, ...]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        gaps, places = self.strengths.gaps, range(len(self.strengths.lines))
        return {
            **self.table.to_json(),
            "superiority": [gaps.superiorities(place) for place in places],
            "strengths": [line.value for line in self.strengths.lines],
            "gap_errors": [gaps.errors(place) for place in places],
            "gifts": [asdict(gift) for gift in self.gifts],
        }


def of_scope(engine: Engine, scope: Scope) -> Matrix | None:
    """Return the crosstable of a scope; None if it has no entrants."""
    from arena.ladders import folds
    from arena.ratings.strength.fit import strengths

    meetings = folds.meetings(engine, scope.tournaments)
    fitted = strengths(meetings, entrants=scope.entrants)
    return _matrix(engine, scope, meetings, fitted) if fitted.lines else None


def of_table(engine: Engine, scope: Scope, table: Table) -> Matrix:
    """Return the crosstable of a ladder whose standings are computed already."""
    return _matrix(engine, scope, table.meetings, table.strengths)


def _matrix(engine: Engine, scope: Scope, meetings: Meetings, fitted: Strengths) -> Matrix:
    from arena.ratings.crosstable import crosstable

    names = [line.entrant for line in fitted.lines]
    return Matrix(crosstable(meetings, names), fitted, ladder_values.gifts(engine, scope))
