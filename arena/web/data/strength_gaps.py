"""Differences of strength between any two bots of a ladder, which are fitted on request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from sqlalchemy import Engine

from arena.ladders import rater
from arena.ladders.ladder_rows import Ladder
from arena.ratings.scale import Z95
from arena.ratings.standings import StandingsLine

if TYPE_CHECKING:
    from arena.ratings.strength.solver import StrengthDifferences

_CACHE_SIZE: Final = 4
"""Number of ladders whose last fit is kept: one of a thousand bots takes a second."""


@dataclass(frozen=True, slots=True)
class StrengthGap:
    """Difference of two strengths on a ladder, from all matches of both.

    Args:
        value: the difference in Elo points, positive if the first is stronger.
        margin: half of its 95 % interval.
        likely: likelihood that the first is stronger.
    """

    value: float
    margin: float
    likely: float


@dataclass(frozen=True, slots=True)
class StrengthGaps:
    """The differences of strength in a ladder by the position of each entrant, from 0."""

    places: Mapping[str, int]
    differences: StrengthDifferences

    def superiority(self, name: str, other: str) -> float:
        """Return the likelihood, 0 to 1, that one entrant is stronger than another."""
        return self.differences.superiority(self.places[name], self.places[other])

    def between(self, line: StandingsLine, other: StandingsLine) -> StrengthGap:
        """Return the difference of two entrants."""
        error = self.differences.error(self.places[line.entrant], self.places[other.entrant])
        likely = self.superiority(line.entrant, other.entrant)
        return StrengthGap(line.strength.value - other.strength.value, Z95 * error, likely)


class FittedGaps:
    """The differences of the last requested ladders. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._fitted: OrderedDict[tuple[str, int], StrengthGaps] = OrderedDict()
        self._lock = Lock()
        # One for each ladder, so that a request waits only for the fit that it needs.
        self._fitting: dict[str, Lock] = {}

    def of(self, ladder: Ladder) -> StrengthGaps:
        """Return the differences of all entrants that a ladder lists."""
        key = ladder.scope.id, ladder.seq
        with self._lock:
            fitting = self._fitting.setdefault(ladder.scope.id, Lock())
        with fitting:
            with self._lock:
                known = self._fitted.get(key)
            if known is None:
                known = self._fit(ladder)
            with self._lock:
                self._fitted[key] = known
                self._fitted.move_to_end(key)
                while len(self._fitted) > _CACHE_SIZE:
                    self._fitted.popitem(last=False)
            return known

    def _fit(self, ladder: Ladder) -> StrengthGaps:
        # The results may be newer than the ladder, and no longer have all its entrants.
        listed = replace(ladder.scope, entrants=ladder.scope.entrants + ladder.table.entrants)
        strengths = rater.fitted_ladder(self._engine, listed).strengths
        places = {line.entrant: at for at, line in enumerate(strengths.lines)}
        return StrengthGaps(places, strengths.gaps)
