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


TIMES_WIDTH, TIMES_HEIGHT = 420.0, 150.0
_TIMES_LEFT, _TIMES_TOP, _TIMES_BOTTOM = 6.0, 8.0, 26.0
_FEWEST_BARS = 8
_TICK_ROOM = 24.0


@dataclass(frozen=True, slots=True)
class Histogram:
    """Bars beside each other over a logarithmic axis."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]


def histogram(stored: Sequence[int], bins: int) -> Histogram | None:
    """Decision times as bars, each of a factor of the root of two; None if there are none.

    stored: as `arena.ratings.decision_histogram` keeps them: bin, count, ... bins: so many are a
    factor of two.
    """
    merged: dict[int, int] = {}
    each = bins // 2
    for place, count in zip(stored[::2], stored[1::2], strict=True):
        merged[place // each] = merged.get(place // each, 0) + count
    if not merged:
        return None
    first, last = min(merged), max(merged)
    lacking = max(_FEWEST_BARS - (last - first + 1), 0)
    first, last = first - lacking // 2, last + (lacking + 1) // 2
    wide = (TIMES_WIDTH - 2 * _TIMES_LEFT) / (last - first + 1)
    tall, most = TIMES_HEIGHT - _TIMES_TOP - _TIMES_BOTTOM, max(merged.values())
    made = []
    for place, count in sorted(merged.items()):
        height = max(tall * count / most, 1.0)
        low, high = 2.0 ** (place / 2), 2.0 ** ((place + 1) / 2)
        title = f"{low:.3g} to {high:.3g} ms: {count} decisions"
        x = round(_TIMES_LEFT + (place - first) * wide, 1)
        y = round(_TIMES_TOP + tall - height, 1)
        made.append(Bar(x, y, round(wide - 1, 1), round(height, 1), title, count=count))
    return Histogram(tuple(made), tuple(_powers(first, last + 1, wide)))


def _powers(first: int, last: int, wide: float) -> Iterable[Tick]:
    """Ticks at powers of ten, of four where there would be one at the most."""
    for base in (10.0, 4.0, 2.0):
        step = 2 * math.log2(base)
        powers = range(math.ceil(first / step), math.floor(last / step) + 1)
        if len(powers) > 1 or base == 2.0:
            for power in powers:
                at = round(_TIMES_LEFT + (power * step - first) * wide, 1)
                # What stands at an edge is moved in by half of its own width.
                at = min(max(at, _TICK_ROOM), TIMES_WIDTH - _TICK_ROOM)
                yield Tick(at, f"{base**power:.3g} ms")
            return
