"""Chart of rating histories, on an axis that depends on the ladder only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.ladders.rating_history import HistoryPoint, RatingHistory
from arena.presentation import wording
from arena.ratings.standings import Standings
from arena.store.bots.versions import Version
from arena.web import charts
from arena.web.charts import Tick

WIDTH, HEIGHT = 760, 280
LEFT, RIGHT, TOP, BOTTOM = 48, 96, 16, 30
MAX_CURVES = 4
"""Maximum number of lines in the chart."""
_LABEL = 15.0
_STEP, _LEAST_AXIS = 100.0, 400.0
"""Strengths at which an axis may begin and end, and its least length, in Elo points."""
_MOST_MARGIN = 300.0
"""Points by which an axis contains a wide interval beyond its strength."""


@dataclass(frozen=True, slots=True)
class RatingCurve:
    """One version in a chart: SVG paths of its line and its 95 % interval, and its label."""

    name: str
    number: int
    line: str
    band: str
    x: float
    y: float
    label: float


@dataclass(frozen=True, slots=True)
class RatingCurves:
    """Geometry of the chart.

    Args:
        uploads: marks where versions were added.
        values: ticks of the strength axis.
        times: ticks of the time axis.
    """

    curves: tuple[RatingCurve, ...]
    uploads: tuple[Tick, ...]
    values: tuple[Tick, ...]
    times: tuple[Tick, ...]
    description: str


def axis(table: Standings) -> tuple[float, float]:
    """Return the ends of the strength axis of a ladder's charts, in Elo points.

    They depend on the ladder only, so that all its charts can be compared and a small change looks
    small. Intervals are within them, but no more of one than `_MOST_MARGIN`.
    """
    known = [line.strength for line in table.lines if line.matches]
    known = known or [line.strength for line in table.lines]
    ends = [
        each.value + side * min(each.margin, _MOST_MARGIN) for each in known for side in (-1, 1)
    ]
    low = math.floor(min(ends, default=0.0) / _STEP) * _STEP
    high = math.ceil(max(ends, default=0.0) / _STEP) * _STEP
    room = max(_LEAST_AXIS - (high - low), 0.0) / 2
    return low - math.ceil(room / _STEP) * _STEP, high + math.ceil(room / _STEP) * _STEP


class _Scale:
    """Converts points of a history to coordinates; strengths beyond the axis are at its ends."""

    def __init__(self, points: Sequence[HistoryPoint], ends: tuple[float, float]) -> None:
        self.low, self.high = ends
        self.points = points

    def x(self, place: float) -> float:
        """Return the x coordinate of a point by its index; n + 0.5 is between two points."""
        last = max(len(self.points) - 1, 1)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max(place / last, 0.0), 1.0), 1)

    def y(self, value: float) -> float:
        """Return the y coordinate of a strength."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - share), 1)


def of_versions(
    past: RatingHistory, versions: Sequence[Version], ends: tuple[float, float]
) -> RatingCurves | None:
    """Return the chart of a bot's newest versions; None if none of them has two points.

    A version with one point is a dot.

    Args:
        past: the ladder's rating history.
        versions: the bot's versions, the oldest first.
        ends: the ends of the strength axis.
    """
    names = [version.id for version in versions if past.of(version.id)][-MAX_CURVES:]
    has_line = any(len(past.of(name)) > 1 for name in names)
    return _chart(past, names if has_line else (), versions, ends)


def of_entrants(
    past: RatingHistory, entrants: Sequence[str], ends: tuple[float, float]
) -> RatingCurves | None:
    """Return the chart of some entrants of a ladder; None if none of them has two points.

    Args:
        past: the ladder's rating history.
        entrants: the entrants; those after the first few with two points are omitted.
        ends: the ends of the strength axis.
    """
    names = [name for name in entrants if len(past.of(name)) > 1][:MAX_CURVES]
    return _chart(past, names, (), ends)


def _chart(
    past: RatingHistory,
    names: Sequence[str],
    versions: Sequence[Version],
    ends: tuple[float, float],
) -> RatingCurves | None:
    if not names:
        return None
    points = [point for point in past.points if any(name in point.values for name in names)]
    scale = _Scale(points, ends)
    curves = [_curve(scale, name, at) for at, name in enumerate(names)]
    return RatingCurves(
        curves=tuple(_apart(curves)),
        uploads=tuple(_uploads(scale, versions)),
        values=tuple(
            Tick(scale.y(value), f"{value:.0f}")
            for value in charts.round_steps(scale.low, scale.high, 5)
        ),
        times=tuple(_times(scale)),
        description="; ".join(_in_words(past, name) for name in names),
    )


def _curve(scale: _Scale, name: str, number: int) -> RatingCurve:
    ratings = [(at, p.values[name]) for at, p in enumerate(scale.points) if name in p.values]
    upper = [(scale.x(at), scale.y(value.high)) for at, value in ratings]
    lower = [(scale.x(at), scale.y(value.low)) for at, value in ratings]
    middle = [(scale.x(at), scale.y(value.strength)) for at, value in ratings]
    x, y = middle[-1]
    return RatingCurve(
        name, number, charts.line(middle), charts.line([*upper, *reversed(lower)]), x, y, y
    )


def _apart(curves: Sequence[RatingCurve]) -> list[RatingCurve]:
    """Move labels down so that they do not overlap."""
    placed: list[RatingCurve] = []
    for curve in sorted(curves, key=lambda each: (each.y, each.number)):
        label = max(curve.y, placed[-1].label + _LABEL) if placed else curve.y
        fields = (curve.name, curve.number, curve.line, curve.band, curve.x, curve.y)
        placed.append(RatingCurve(*fields, label))
    return sorted(placed, key=lambda each: each.number)


def _uploads(scale: _Scale, versions: Sequence[Version]) -> Iterable[Tick]:
    for version in versions:
        before = sum(point.at < version.created for point in scale.points)
        # A version added before the first or after the last shown point has no position in the
        # chart.
        if 0 < before < len(scale.points):
            yield Tick(scale.x(before - 0.5), f"@{version.number}")


def _times(scale: _Scale) -> Iterable[Tick]:
    last = len(scale.points) - 1
    days = {wording.moment(scale.points[at].at)[:10] for at in (0, last)}
    for at in sorted({0, last // 2, last}):
        moment = wording.moment(scale.points[at].at)
        yield Tick(scale.x(at), moment[11:16] if len(days) == 1 else moment[:10])


def _in_words(past: RatingHistory, name: str) -> str:
    ratings = past.of(name)
    (_, first), (_, last) = ratings[0], ratings[-1]
    points = f"{len(ratings)} {'points' if len(ratings) > 1 else 'point'}"
    return (
        f"{name}: {points}, from {first.strength:.0f} to {last.strength:.0f}, "
        f"now from {last.low:.0f} to {last.high:.0f}"
    )
