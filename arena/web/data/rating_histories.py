"""Rating histories of ladders for the pages, with sparklines computed once per change."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.ladders.rating_history import RatingHistories, RatingHistory
from arena.web import charts
from arena.web.charts import Sparkline
from arena.web.data.snapshot import LadderSnapshot


@dataclass(frozen=True, slots=True)
class RatingChart:
    """Rating history of one ladder.

    Args:
        past: the history.
        sparks: sparklines by entrant, for entrants with at least two points.
    """

    past: RatingHistory = field(default_factory=RatingHistory)
    sparks: Mapping[str, Sparkline] = field(default_factory=dict, compare=False)

    def moved(self, entrant: str, place: int) -> int | None:
        """Return the places an entrant gained since yesterday; None if it was not ranked then."""
        was = self.past.yesterday.get(entrant)
        return None if was is None else was - place


def updated_charts(
    historian: RatingHistories,
    ladders: Mapping[str, LadderSnapshot],
    known: Mapping[str, RatingChart],
    seconds: float,
) -> tuple[dict[str, RatingChart], bool]:
    """Update the rating histories of ladders.

    Args:
        historian: computes the histories.
        ladders: the ladders by form.
        known: the previous histories by form.
        seconds: the time limit; histories beyond it keep their previous state.

    Returns:
        The histories by form, and whether all are up to date.
    """
    made, is_whole = dict(known), True
    until = time.monotonic() + seconds
    for form, ladder in ladders.items():
        past = historian.past(ladder.scope, max(until - time.monotonic(), 0.0))
        if past is None:
            is_whole = False
        elif form not in made or made[form].past != past:
            made[form] = RatingChart(past, _sparks(past))
    return made, is_whole


def _sparks(past: RatingHistory) -> dict[str, Sparkline]:
    courses: dict[str, list[float]] = {}
    for point in past.points:
        for name, value in point.values.items():
            courses.setdefault(name, []).append(value.strength)
    return {name: charts.spark(course) for name, course in courses.items() if len(course) > 1}
