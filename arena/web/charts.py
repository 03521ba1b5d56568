"""Charts as plain geometry, which templates write down as SVG. Coordinates are pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SPARK_WIDTH, SPARK_HEIGHT = 84, 22
_SPARK_EDGE = 2
_LEAST_RANGE = 60.0
"""So many points of strength fill a spark at least, or doubt would look like change."""


@dataclass(frozen=True, slots=True)
class Spark:
    """A course as a line the size of a word. points: of the line. x, y: its end."""

    points: str
    x: float
    y: float
    told: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: where, and what it says."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart. title: what it says in words. text: below it. count: what it shows."""

    x: float
    y: float
    width: float
    height: float
    title: str
    text: str = ""
    count: int = 0


def line(points: Iterable[tuple[float, float]]) -> str:
    """Points as SVG writes them."""
    return " ".join(f"{_short(x)},{_short(y)}" for x, y in points)


def spark(course: Sequence[float]) -> Spark:
    """The course of a strength, of two values or more."""
    low, high = min(course), max(course)
    room = max(high - low, _LEAST_RANGE)
    base = (low + high - room) / 2
    wide, tall = SPARK_WIDTH - 2 * _SPARK_EDGE - 2, SPARK_HEIGHT - 2 * _SPARK_EDGE
    points = [
        (
            _SPARK_EDGE + wide * at / (len(course) - 1),
            _SPARK_EDGE + tall * (1 - (value - base) / room),
        )
        for at, value in enumerate(course)
    ]
    told = f"from {course[0]:.0f} to {course[-1]:.0f} in {len(course)} points"
    return Spark(line(points), round(points[-1][0], 1), round(points[-1][1], 1), told)


BAR_WIDTH, BAR_HEIGHT, BAR_GAP = 64.0, 120.0, 8.0
_ROOM = 18.0
"""Above a bar, for its number."""


def bars(counts: Sequence[int], titles: Sequence[str], texts: Sequence[str]) -> list[Bar]:
    """Upright bars beside each other, the largest as high as the chart."""
    most = max([*counts, 1])
    return [
        Bar(
            round(at * (BAR_WIDTH + BAR_GAP), 1),
            round(_ROOM + BAR_HEIGHT * (1 - count / most), 1),
            BAR_WIDTH,
            round(BAR_HEIGHT * count / most, 1),
            title,
            text,
            count,
        )
        for at, (count, title, text) in enumerate(zip(counts, titles, texts, strict=True))
    ]


def round_steps(low: float, high: float, about: int) -> list[float]:
    """Round values, about so many, between two others."""
    if not high > low:
        return [low]
    rough = (high - low) / max(about, 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 5, 10) if size * each >= rough)
    first = math.ceil(low / step)
    return [step * at for at in range(first, math.floor(high / step) + 1)]


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
