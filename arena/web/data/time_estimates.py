"""Time estimates for the end of running tournaments."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from arena.formats.contract import ALL_AT_ONCE, FormatEntrant
from arena.store.tournaments.format_history import FormatHistory
from arena.tournaments import time_estimate

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments.tournaments import Tournament, TournamentProgress

_GAMES_FOR_A_PACE = 10
_PACE_SECONDS = 300.0
"""Length of the period over which the pace is measured, in seconds."""
_SAMPLE_SECONDS = 2.0
_MAX_SIMULATED_MATCHES = 3000
"""Number of played matches above which the remaining matches are not simulated."""


@dataclass(frozen=True, slots=True)
class TimeEstimates:
    """Expected size and end of a tournament.

    Args:
        matches: total number of matches; None if the format cannot predict it.
        games: total number of games; None if the format cannot predict it.
        seconds_left: seconds until the end at the current pace; None if unknown.
    """

    matches: int | None = None
    games: int | None = None
    seconds_left: float | None = None


@dataclass(slots=True)
class _PaceSamples:
    """Stored data of an open tournament."""

    samples: deque[tuple[float, int]] = field(default_factory=deque)
    """(time, played games) pairs."""
    entries: Sequence[FormatEntrant] = ()
    coming: int | None = None
    is_computed: bool = False


class TimeEstimator:
    """Computes time estimates. Stores the simulation results until they become invalid."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._followed: dict[str, _PaceSamples] = {}

    def estimate(
        self, tournament: Tournament, progress: TournamentProgress, at: float
    ) -> TimeEstimates:
        """Return the time estimate of an open tournament.

        Args:
            at: the current time in seconds.
        """
        estimate = self._followed.setdefault(tournament.id, _PaceSamples())
        outgrown = estimate.coming is not None and progress.matches > estimate.coming
        if not estimate.is_computed or estimate.entries != tournament.entries or outgrown:
            estimate.is_computed, estimate.entries = True, tournament.entries
            estimate.coming = self._coming(tournament, progress)
        games = None
        if estimate.coming is not None:
            games = max(time_estimate.games(tournament.plan, estimate.coming), progress.planned)
        left = None if games is None else _left(estimate.samples, progress.games, games, at)
        return TimeEstimates(estimate.coming, games, left)

    def forget_others(self, ids: Sequence[str]) -> None:
        """Drop the tournaments that are not among these IDs."""
        for gone in self._followed.keys() - set(ids):
            del self._followed[gone]

    def _coming(self, tournament: Tournament, progress: TournamentProgress) -> int | None:
        if tournament.plan.format in ALL_AT_ONCE:
            return progress.matches
        if progress.matches > _MAX_SIMULATED_MATCHES:
            return None
        played = FormatHistory(self._engine, tournament.id).matches()
        try:
            return time_estimate.matches(tournament.plan, tournament.entries, played)
        except ValueError:
            return None


def _left(samples: deque[tuple[float, int]], played: int, games: int, at: float) -> float | None:
    """Add a sample and return the remaining seconds; None if the pace is unknown."""
    if not samples or at - samples[-1][0] >= _SAMPLE_SECONDS:
        samples.append((at, played))
    while len(samples) > 2 and at - samples[0][0] > _PACE_SECONDS:
        samples.popleft()
    since, before = samples[0]
    if played - before < _GAMES_FOR_A_PACE or at <= since:
        return None
    return max(games - played, 0) * (at - since) / (played - before)
