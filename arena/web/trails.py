"""The histories of ladders as pages show them: drawn once, when they change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.histories import Historian, Past
from arena.web import charts
from arena.web.charts import Spark
from arena.web.sight import Ladder


@dataclass(frozen=True, slots=True)
class Trail:
    """The history of one ladder. sparks: by entrant, of those with two points or more."""

    past: Past = field(default_factory=Past)
    sparks: Mapping[str, Spark] = field(default_factory=dict, compare=False)

    def moved(self, entrant: str, place: int) -> int | None:
        """How many places an entrant has gained since yesterday; None if it had none then."""
        was = self.past.yesterday.get(entrant)
        return None if was is None else was - place


def trails_of(
    historian: Historian, ladders: Mapping[str, Ladder], known: Mapping[str, Trail]
) -> dict[str, Trail]:
    """The histories of ladders, by form; those that are as they were are taken over."""
    made = {}
    for form, ladder in ladders.items():
        past = historian.past(ladder.scope)
        before = known.get(form)
        made[form] = before if before and before.past == past else Trail(past, _sparks(past))
    return made


def _sparks(past: Past) -> dict[str, Spark]:
    courses: dict[str, list[float]] = {}
    for point in past.points:
        for name, value in point.values.items():
            courses.setdefault(name, []).append(value.strength)
    return {name: charts.spark(course) for name, course in courses.items() if len(course) > 1}
