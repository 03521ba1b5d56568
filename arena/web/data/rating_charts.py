"""The histories of ladders as pages show them: drawn once, when they change."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.ladders.rating_history import Historian, Past
from arena.web import charts
from arena.web.charts import Spark
from arena.web.data.snapshot import Ladder


@dataclass(frozen=True, slots=True)
class RatingChart:
    """The history of one ladder. sparks: by entrant, of those with two points or more."""

    past: Past = field(default_factory=Past)
    sparks: Mapping[str, Spark] = field(default_factory=dict, compare=False)

    def moved(self, entrant: str, place: int) -> int | None:
        """How many places an entrant has gained since yesterday; None if it had none then."""
        was = self.past.yesterday.get(entrant)
        return None if was is None else was - place


def trails_of(
    historian: Historian,
    ladders: Mapping[str, Ladder],
    known: Mapping[str, RatingChart],
    seconds: float,
) -> tuple[dict[str, RatingChart], bool]:
    """The histories of ladders, by form, and whether they are up to date.

    seconds: after so long the rest is left for the next time; those stay as they were.
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


def _sparks(past: Past) -> dict[str, Spark]:
    courses: dict[str, list[float]] = {}
    for point in past.points:
        for name, value in point.values.items():
            courses.setdefault(name, []).append(value.strength)
    return {name: charts.spark(course) for name, course in courses.items() if len(course) > 1}
