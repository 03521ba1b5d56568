"""Preview the schedule of a tournament that has not been created.

The command line and the organiser's pages and API use the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.formats.contract import Fixture, FormatEntrant
from arena.store.match_settings import TournamentPlan
from arena.tournaments import match_pace, scheduler, time_estimate

if TYPE_CHECKING:
    from sqlalchemy import Engine


@dataclass(frozen=True, slots=True)
class SchedulePreview:
    """The schedule of a tournament that has not been created.

    Attributes:
        first: the first matches.
        matches: the estimated number of all matches; None if it cannot be estimated.
        seconds: the estimated duration; None if it cannot be estimated.
        measured: number of closed matches of this form from which the duration is estimated; 0:
            from the house bots.
        sprt: the expected length of a sequential test; None for other formats.
    """

    plan: TournamentPlan
    entrants: tuple[FormatEntrant, ...]
    first: tuple[Fixture, ...]
    matches: int | None
    seconds: float | None
    measured: int
    sprt: time_estimate.SprtForecast | None = None

    @property
    def games(self) -> int | None:
        """The estimated number of games; None if it cannot be estimated."""
        return None if self.matches is None else time_estimate.games(self.plan, self.matches)

    def to_json(self) -> dict[str, Any]:
        return {
            **self.plan.to_json(),
            "form": self.plan.form,
            "entrants": [{"bot": entry.name, "owner": entry.owner} for entry in self.entrants],
            "schedule": [
                {"round": f.round, "number": f.number, "entrants": list(f.entrants), "why": f.why}
                for f in self.first
            ],
            "matches": self.matches,
            "games": self.games,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            "pace_from_matches": self.measured,
            "sprt": self.sprt.to_json() if self.sprt else None,
        }


def preview(
    engine: Engine | None, plan: TournamentPlan, entrants: Sequence[FormatEntrant], at_once: int
) -> SchedulePreview:
    """Return the schedule and the estimated duration of a tournament. Stores nothing.

    Args:
        engine: the store, whose matches give the pace; None: the pace of the house bots.
        entrants: the entrants in order of their seeds.
        at_once: the number of matches played at the same time.

    Raises:
        InvalidSettings: these entrants cannot play the format.
    """
    first = scheduler.opening(plan, entrants)
    total = time_estimate.matches(plan, entrants)
    pace, measured = match_pace.seconds_per_game(engine, plan)
    seconds = None if total is None else time_estimate.games(plan, total) * pace / at_once
    forecast = time_estimate.sprt_forecast(engine, plan, entrants)
    return SchedulePreview(plan, tuple(entrants), first, total, seconds, measured, forecast)
