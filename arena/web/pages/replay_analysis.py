"""The analysis of a match on its replay pages: graph, swings, accuracy, costly decisions, luck."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from arena.presentation.recorded_frames import RecordedFrames
from arena.records.analysis import summary
from arena.records.analysis.swings import largest_swings
from arena.web.charts import GraphLine, graph_y, line, places_by_side


@dataclass(frozen=True, slots=True)
class RatedStep:
    """The win probabilities at a position, in percent, in the order of the lines."""

    step: int
    percents: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ProbabilityView:
    """The win probabilities of a game from one point of view.

    Args:
        seat: the seat whose knowledge they follow from; None for the hands as they were.
        lines: one per side.
        rated: the rated positions.
    """

    seat: int | None
    lines: tuple[GraphLine, ...]
    rated: tuple[RatedStep, ...]

    def rated_at(self, step: int) -> RatedStep:
        """Return the last rated position until a step."""
        return max(
            (each for each in self.rated if each.step <= step),
            key=lambda each: each.step,
            default=self.rated[0],
        )


@dataclass(frozen=True, slots=True)
class ShownSwing:
    """A large change of a seat's win expectation from the rated position before to `step`."""

    step: int
    seat: int
    name: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ReplayAnalysis:
    """The analysis of a match as the page of one of its games shows it.

    Args:
        stored: the stored analysis.
        entrants: the names of the match's entrants, in its order.
        probabilities: the win probabilities of the game.
        swings: the largest swings of the game.
    """

    stored: dict[str, Any]
    entrants: Sequence[str]
    probabilities: tuple[ProbabilityView, ...]
    swings: tuple[ShownSwing, ...]

    @property
    def accuracies(self) -> list[dict[str, Any]]:
        """Accuracy and luck of each bot in the whole match."""
        luck = self.stored["luck"]
        rows = (row for row in self.stored["accuracy"] if row["phase"] == summary.ALL)
        return [{**row, "luck": luck[row["entrant"]]} for row in rows]


def of_game(
    analysis: dict[str, Any] | None,
    entrants: Sequence[str],
    game: int,
    recorded: RecordedFrames,
) -> ReplayAnalysis | None:
    """Return the analysis of a match for the page of one game.

    Args:
        analysis: the stored analysis in the supported form; None before it is stored.
        entrants: the names of the match's entrants, in its order.
        game: the number of the game.
        recorded: the frames of the game.
    """
    if analysis is None:
        return None
    positions = [row for row in analysis["positions"] if row["game"] == game]
    rated = [row for row in analysis["win_probabilities"] if row["game"] == game]
    return ReplayAnalysis(
        analysis,
        entrants,
        tuple(_probabilities(recorded, rated)),
        tuple(_swings(recorded, positions)),
    )


def data_of_game(analysis: dict[str, Any] | None, game: int) -> dict[str, Any] | None:
    """Return the stored analysis with the positions and chance events of one game only."""
    if analysis is None:
        return None
    return {
        **analysis,
        **{
            part: [row for row in analysis[part] if row["game"] == game]
            for part in ("positions", "win_probabilities", "chance")
        },
    }


def step_before(recorded: RecordedFrames, decision: int) -> int:
    """Return the position before a decision."""
    before = [all(act.decision < decision for act in m.actions) for m in recorded.moments]
    return max(sum(before) - 1, 0)


_Rated = list[tuple[int, list[list[float]]]]
"""Rated positions: the step, and by seat the win probability and its standard error."""


def _probabilities(
    recorded: RecordedFrames, rows: Sequence[dict[str, Any]]
) -> Iterator[ProbabilityView]:
    """Yield the probabilities with the hands as they were, and those of each seat's knowledge."""
    if not rows:
        return
    steps = [step_before(recorded, row["decision"]) for row in rows]
    seats = range(len(rows[0]["known_to"]))
    for seat in (None, *seats):
        values = [row["by_seat"] if seat is None else row["known_to"][seat] for row in rows]
        rated = list(zip(steps, values, strict=True))
        yield ProbabilityView(
            seat, tuple(_lines(recorded, rated)), tuple(_rated_steps(recorded, rated))
        )


def _rated_steps(recorded: RecordedFrames, rated: _Rated) -> list[RatedStep]:
    seats = [places[0].number for places in places_by_side(recorded.frames)]
    return [
        RatedStep(step, tuple(round(100 * by_seat[seat][0], 1) for seat in seats))
        for step, by_seat in rated
    ]


def _lines(recorded: RecordedFrames, rated: _Rated) -> list[GraphLine]:
    return [
        GraphLine(
            places[0].number,
            " and ".join(place.name for place in places),
            line((step, _y(by_seat[places[0].number][0])) for step, by_seat in rated),
            _band([(step, by_seat[places[0].number]) for step, by_seat in rated]),
        )
        for places in places_by_side(recorded.frames)
    ]


def _band(estimates: Sequence[tuple[int, list[float]]]) -> str:
    """Return the outline of the 95 % intervals: the upper bounds, then the lower ones back."""
    bounds = [
        [(step, _y(mean + sign * summary.INTERVAL * error)) for step, (mean, error) in estimates]
        for sign in (1, -1)
    ]
    return line([*bounds[0], *reversed(bounds[1])])


def _y(probability: float) -> float:
    """Return the height of a probability in the graph."""
    return graph_y(min(1.0, max(0.0, probability)))


def _swings(recorded: RecordedFrames, positions: Sequence[dict[str, Any]]) -> list[ShownSwing]:
    first_seats = {place.side: place.number for place in reversed(recorded.frames.places)}
    return [
        ShownSwing(
            step_before(recorded, swing.decision),
            swing.seat,
            recorded.names[swing.seat],
            swing.before,
            swing.after,
        )
        for swing in largest_swings(positions, first_seats.values())
    ]
