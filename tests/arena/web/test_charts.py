"""Charts stay within their frame, and larger values are drawn larger."""

import itertools

import pytest

from arena.ladders.ladder_rows import RatingPoint
from arena.ladders.rating_history import HistoryPoint, RatingHistory
from arena.ratings.decision_histogram import BINS, DecisionHistogram
from arena.store.bots.versions import Version
from arena.web import charts, rating_curves

AXIS = (1000.0, 1600.0)


def version(number: int, created: float) -> Version:
    name = f"bot@{number}"
    return Version(name, "bot", str(number), "", "", {}, created, None, None, None, "")


def past(*rows: dict[int, tuple[float, float]]) -> RatingHistory:
    return RatingHistory(
        tuple(
            HistoryPoint(
                float(at),
                at,
                at,
                {
                    f"bot@{n}": RatingPoint(at, float(at), at, f"bot@{n}", *fields)
                    for n, fields in row.items()
                },
            )
            for at, row in enumerate(rows, 1)
        )
    )


def numbers(points: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in points.split())]


def test_a_sparkline_rises_with_strength() -> None:
    spark = charts.spark([1200, 1300, 1250])
    (x0, y0), (x1, y1), (x2, y2) = numbers(spark.points)
    assert x0 < x1 < x2
    assert y1 < y2 < y0
    assert (spark.x, spark.y) == (x2, y2)


def test_small_changes_do_not_fill_a_sparkline() -> None:
    heights = [y for _, y in numbers(charts.spark([1200, 1203, 1200]).points)]
    assert max(heights) - min(heights) < 2
    assert 0 < min(heights) < max(heights) < charts.SPARK_HEIGHT


def test_a_chart_has_a_line_a_band_and_a_label_for_each_version() -> None:
    chart = rating_curves.of_versions(
        past({1: (1200, 300)}, {1: (1210, 50)}, {1: (1220, 40), 2: (1300, 200)}, {2: (1310, 30)}),
        [version(1, 0.5), version(2, 2.5)],
        AXIS,
    )
    assert chart is not None
    assert [curve.name for curve in chart.curves] == ["bot@1", "bot@2"]
    assert [len(numbers(curve.line)) for curve in chart.curves] == [3, 2]
    assert [len(numbers(curve.band)) for curve in chart.curves] == [6, 4]
    for curve in chart.curves:
        for x, y in numbers(curve.line) + numbers(curve.band):
            assert rating_curves.LEFT <= x <= rating_curves.WIDTH - rating_curves.RIGHT
            assert rating_curves.TOP <= y <= rating_curves.HEIGHT - rating_curves.BOTTOM
    assert [mark.text for mark in chart.uploads] == ["@2"]
    third, fourth = numbers(chart.curves[1].line)
    assert numbers(chart.curves[0].line)[1][0] < chart.uploads[0].at < third[0] < fourth[0]


def test_labels_of_lines_do_not_overlap() -> None:
    rows = [{1: (1200.0, 9.0), 2: (1201.0, 9.0), 3: (1199.0, 9.0)}] * 2
    chart = rating_curves.of_versions(past(*rows), [version(n, 0) for n in (1, 2, 3)], AXIS)
    assert chart is not None
    labels = sorted(curve.label for curve in chart.curves)
    assert all(b - a >= 14 for a, b in itertools.pairwise(labels))


def test_lines_of_one_ladder_share_their_axis() -> None:
    flat = past({1: (1200, 400)}, {1: (1210, 300)})
    steep = past({1: (1000, 40)}, {1: (1600, 30)})
    charted = [rating_curves.of_versions(each, [version(1, 0)], AXIS) for each in (flat, steep)]
    assert charted[0] is not None
    assert charted[1] is not None
    assert charted[0].values == charted[1].values
    heights = [[y for _, y in numbers(chart.curves[0].line)] for chart in charted if chart]
    assert max(heights[0]) - min(heights[0]) < 10
    assert max(heights[1]) - min(heights[1]) > 200


def test_one_point_has_no_chart() -> None:
    assert rating_curves.of_versions(past({1: (1200, 10)}), [version(1, 0)], AXIS) is None
    assert rating_curves.of_versions(RatingHistory(), [version(1, 0)], AXIS) is None


def test_a_histogram_counts_every_decision_once() -> None:
    thinking = DecisionHistogram.of([0.5, 1.0, 1.1, 7.0, 7.5, 7.6, 240.0])
    chart = charts.histogram(thinking.stored(), BINS)
    assert chart is not None
    assert sum(bar.count for bar in chart.bars) == 7
    assert max(chart.bars, key=lambda bar: bar.height).count == 3
    assert [tick.text for tick in chart.ticks] == ["1 ms", "10 ms", "100 ms"]
    for bar in chart.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= charts.TIMES_WIDTH
        assert 0 <= bar.y <= bar.y + bar.height <= charts.TIMES_HEIGHT
    assert charts.histogram([], BINS) is None


@pytest.mark.parametrize("low", [0.01, 3.0, 900.0])
def test_the_axis_of_a_narrow_histogram_has_ticks(low: float) -> None:
    chart = charts.histogram(DecisionHistogram.of([low]).stored(), BINS)
    assert chart is not None
    assert len(chart.ticks) >= 2


@pytest.mark.parametrize(
    ("low", "high", "steps"),
    [
        (1100, 1310, [1100, 1150, 1200, 1250, 1300]),
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, steps: list[float]) -> None:
    assert charts.round_steps(low, high, 5) == pytest.approx(steps)
