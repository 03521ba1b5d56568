"""Charts as geometry in pixels, which templates render as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.presentation.frames import FrameSequence, SeatFrames

SPARK_WIDTH, SPARK_HEIGHT = 84, 22
_SPARK_EDGE = 2
_LEAST_RANGE = 60.0
"""Minimum range of a sparkline's axis in points of strength, so that noise does not look large."""
_GRAPH_EDGE, _GRAPH_HEIGHT = 4.0, 92.0
BAR_WIDTH, BAR_HEIGHT, BAR_GAP = 64.0, 120.0, 8.0
_SPACE_ABOVE_BAR = 18.0
"""Space above a bar for its number, in pixels."""
TIMES_WIDTH, TIMES_HEIGHT = 420.0, 150.0
_TIMES_LEFT, _TIMES_TOP, _TIMES_BOTTOM = 6.0, 8.0, 26.0
_FEWEST_BARS = 8
_TICK_ROOM = 24.0


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A sparkline: its SVG points, its end (x, y), and its description."""

    points: str
    x: float
    y: float
    description: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: its position and its label."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart with its description (`title`) and the label below it (`text`)."""

    x: float
    y: float
    width: float
    height: float
    title: str
    text: str = ""
    count: int = 0


def line(points: Iterable[tuple[float, float]]) -> str:
    """Return points in the syntax of SVG's `points` attribute."""
    return " ".join(f"{_short(x)},{_short(y)}" for x, y in points)


def spark(values: Sequence[float]) -> Sparkline:
    """Return the sparkline of at least two strengths."""
    low, high = min(values), max(values)
    room = max(high - low, _LEAST_RANGE)
    base = (low + high - room) / 2
    wide, tall = SPARK_WIDTH - 2 * _SPARK_EDGE - 2, SPARK_HEIGHT - 2 * _SPARK_EDGE
    points = [
        (
            _SPARK_EDGE + wide * at / (len(values) - 1),
            _SPARK_EDGE + tall * (1 - (value - base) / room),
        )
        for at, value in enumerate(values)
    ]
    text = f"from {values[0]:.0f} to {values[-1]:.0f} in {len(values)} points"
    return Sparkline(line(points), round(points[-1][0], 1), round(points[-1][1], 1), text)


@dataclass(frozen=True, slots=True)
class GraphLine:
    """A value of a side: its first seat, the names of its seats, and its SVG points."""

    seat: int
    name: str
    points: str
    band: str = ""
    """SVG points of the 95 % intervals, if any."""


@dataclass(frozen=True, slots=True)
class ScoreGraph:
    """Running scores by position: x is the step, y goes from 0 (top) to 100."""

    lines: tuple[GraphLine, ...]
    low: int
    high: int
    zero: float
    """y of the score 0."""


def graph_y(share: float) -> float:
    """Return y of a share of the value range, from 0 (bottom) to 1 (top)."""
    return _GRAPH_EDGE + _GRAPH_HEIGHT * (1 - share)


def places_by_side(frames: FrameSequence) -> list[list[SeatFrames]]:
    """Return the seats of each side."""
    by_side: dict[int, list[SeatFrames]] = {}
    for place in frames.places:
        by_side.setdefault(place.side, []).append(place)
    return list(by_side.values())


def score_graph(frames: FrameSequence) -> ScoreGraph:
    """Return the running score of each side; the axis includes 0."""
    scores = [span.value.score for place in frames.places for span in place.heads]
    low, high = min(0, *scores), max(0, *scores)

    def y(score: int) -> float:
        return graph_y(1 - (high - score) / max(high - low, 1))

    lines = tuple(
        GraphLine(
            places[0].number,
            " and ".join(place.name for place in places),
            line(
                (step, y(span.value.score))
                for span in places[0].heads
                for step in dict.fromkeys((span.first, span.last))
            ),
        )
        for places in places_by_side(frames)
    )
    return ScoreGraph(lines, low, high, y(0))


def bars(counts: Sequence[int], titles: Sequence[str], texts: Sequence[str]) -> list[Bar]:
    """Return vertical bars next to each other; the largest has the chart's height."""
    most = max([*counts, 1])
    return [
        Bar(
            round(at * (BAR_WIDTH + BAR_GAP), 1),
            round(_SPACE_ABOVE_BAR + BAR_HEIGHT * (1 - count / most), 1),
            BAR_WIDTH,
            round(BAR_HEIGHT * count / most, 1),
            title,
            text,
            count,
        )
        for at, (count, title, text) in enumerate(zip(counts, titles, texts, strict=True))
    ]


def round_steps(low: float, high: float, about: int) -> list[float]:
    """Return round values between `low` and `high`, about `about` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / max(about, 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 5, 10) if size * each >= rough)
    first = math.ceil(low / step)
    return [step * at for at in range(first, math.floor(high / step) + 1)]


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Histogram:
    """Adjacent bars over a logarithmic axis."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]


def histogram(stored: Sequence[int], bins: int) -> Histogram | None:
    """Return decision times as bars with a width of a factor of sqrt(2); None without times.

    Args:
        stored: alternating bin and count, as stored by `arena.ratings.decision_histogram`.
        bins: the number of bins per factor of two.
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
    bars = []
    for place, count in sorted(merged.items()):
        height = max(tall * count / most, 1.0)
        low, high = 2.0 ** (place / 2), 2.0 ** ((place + 1) / 2)
        title = f"{low:.3g} to {high:.3g} ms: {count} decisions"
        x = round(_TIMES_LEFT + (place - first) * wide, 1)
        y = round(_TIMES_TOP + tall - height, 1)
        bars.append(Bar(x, y, round(wide - 1, 1), round(height, 1), title, count=count))
    return Histogram(tuple(bars), tuple(_powers(first, last + 1, wide)))


def _powers(first: int, last: int, wide: float) -> Iterable[Tick]:
    """Yield ticks at powers of 10; at powers of 4 or 2 if there were fewer than two ticks."""
    for base in (10.0, 4.0, 2.0):
        step = 2 * math.log2(base)
        powers = range(math.ceil(first / step), math.floor(last / step) + 1)
        if len(powers) > 1 or base == 2.0:
            for power in powers:
                at = round(_TIMES_LEFT + (power * step - first) * wide, 1)
                # Keep the label inside the chart by half of its width.
                at = min(max(at, _TICK_ROOM), TIMES_WIDTH - _TICK_ROOM)
                yield Tick(at, f"{base**power:.3g} ms")
            return
