"""The history of some versions of a bot as a chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.histories import Past, Point, Value
from arena.store.versions import Version
from arena.web import charts, words
from arena.web.charts import Tick

WIDTH, HEIGHT = 760, 280
LEFT, RIGHT, TOP, BOTTOM = 48, 96, 16, 30
SHOWN = 4
"""So many versions have lines; more could not be told apart."""
_LEAST_ROOM = 60.0
_LABEL = 15.0


@dataclass(frozen=True, slots=True)
class Course:
    """One version: its line, the band of its 95 % interval, and its name at the end."""

    name: str
    number: int
    line: str
    band: str
    x: float
    y: float
    label: float


@dataclass(frozen=True, slots=True)
class Chart:
    """The chart.

    uploads: where versions were added meanwhile. values, times: the ticks of the axes.
    """

    courses: tuple[Course, ...]
    uploads: tuple[Tick, ...]
    values: tuple[Tick, ...]
    times: tuple[Tick, ...]
    told: str


class _Scale:
    """Where a value of a point lies."""

    def __init__(self, points: Sequence[Point], values: Iterable[Value]) -> None:
        known = [value.strength for value in values]
        # The band of the first rounds is far wider than what is of interest: it is cut.
        room = max(_LEAST_ROOM, 0.25 * (max(known) - min(known)))
        self.low, self.high = min(known) - room, max(known) + room
        self.points = points

    def x(self, place: float) -> float:
        """Of a point by its place; half a place is between two."""
        last = max(len(self.points) - 1, 1)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max(place / last, 0.0), 1.0), 1)

    def y(self, value: float) -> float:
        """Of a strength."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - share), 1)


def chart(past: Past, versions: Sequence[Version]) -> Chart | None:
    """The chart of some versions of one bot; None where there are not two points of one."""
    shown = [version for version in versions if len(past.of(version.id)) > 1][-SHOWN:]
    if not shown:
        return None
    names = [version.id for version in shown]
    points = [point for point in past.points if any(name in point.values for name in names)]
    scale = _Scale(points, (v for p in points for n in names if (v := p.values.get(n))))
    courses = [_course(scale, name, at) for at, name in enumerate(names)]
    return Chart(
        courses=tuple(_apart(courses)),
        uploads=tuple(_uploads(scale, versions)),
        values=tuple(
            Tick(scale.y(value), f"{value:.0f}")
            for value in charts.round_steps(scale.low, scale.high, 5)
        ),
        times=tuple(_times(scale)),
        told="; ".join(_in_words(past, name) for name in names),
    )


def _course(scale: _Scale, name: str, number: int) -> Course:
    own = [(at, p.values[name]) for at, p in enumerate(scale.points) if name in p.values]
    upper = [(scale.x(at), scale.y(value.high)) for at, value in own]
    lower = [(scale.x(at), scale.y(value.low)) for at, value in own]
    middle = [(scale.x(at), scale.y(value.strength)) for at, value in own]
    x, y = middle[-1]
    return Course(
        name, number, charts.line(middle), charts.line([*upper, *reversed(lower)]), x, y, y
    )


def _apart(courses: Sequence[Course]) -> list[Course]:
    """The same with their names below each other where their ends are close."""
    placed: list[Course] = []
    for course in sorted(courses, key=lambda each: (each.y, each.number)):
        label = max(course.y, placed[-1].label + _LABEL) if placed else course.y
        told = (course.name, course.number, course.line, course.band, course.x, course.y)
        placed.append(Course(*told, label))
    return sorted(placed, key=lambda each: each.number)


def _uploads(scale: _Scale, versions: Sequence[Version]) -> Iterable[Tick]:
    for version in versions:
        before = sum(point.at < version.created for point in scale.points)
        # What was added before all that is shown, or after it, changes nothing that is seen.
        if 0 < before < len(scale.points):
            yield Tick(scale.x(before - 0.5), f"@{version.number}")


def _times(scale: _Scale) -> Iterable[Tick]:
    last = len(scale.points) - 1
    days = {words.moment(scale.points[at].at)[:10] for at in (0, last)}
    for at in sorted({0, last // 2, last}):
        told = words.moment(scale.points[at].at)
        yield Tick(scale.x(at), told[11:16] if len(days) == 1 else told[:10])


def _in_words(past: Past, name: str) -> str:
    own = past.of(name)
    (_, first), (_, last) = own[0], own[-1]
    return (
        f"{name}: {len(own)} points, from {first.strength:.0f} to {last.strength:.0f}, "
        f"now from {last.low:.0f} to {last.high:.0f}"
    )
