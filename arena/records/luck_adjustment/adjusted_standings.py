"""List the bots of a ladder by luck-adjusted results, from the stored luck of its matches.

Raw and adjusted means have the same expectation, but a mean score depends on the opponents that a
bot has met. So the list complements the strengths of the ladder; ranks follow raw results only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from arena.ladders.columns import Column
from arena.presentation.wording import percent, signed, with_interval
from arena.ratings.control_variates import FEWEST, AdjustedMean
from arena.records.analysis.engine import NoEngine
from arena.records.luck_adjustment.board_results import (
    AdjustedResult,
    BoardResult,
    adjusted_result,
    board_results,
)
from arena.records.luck_adjustment.match_luck import MatchLuck, method_of
from arena.store.idle_results import LUCK
from arena.store.matches import results

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey


_percent: Final = partial(percent, digits=1)


@dataclass(frozen=True, slots=True)
class AdjustedLine:
    """Raw and luck-adjusted results of a bot against all others at its tables.

    Attributes:
        entrant: the version, as "name@number".
        result: its results in the matches with stored luck.
    """

    entrant: str
    result: AdjustedResult

    def to_json(self) -> dict[str, object]:
        return {"entrant": self.entrant, **self.result.to_json()}


def _raw(mean: AdjustedMean | None, text: Callable[[float], str]) -> str:
    return text(mean.raw) if mean else ""


def _adjusted(mean: AdjustedMean | None, text: Callable[[float], str]) -> str:
    return with_interval(text, mean.value, mean.low, mean.high) if mean else ""


ADJUSTED: list[Column[AdjustedLine]] = [
    Column("entrant", "bot", lambda line: line.entrant, "version of a bot", is_left=True),
    Column("boards", "boards", lambda line: line.result.boards, "boards with measured luck"),
    Column(
        "score",
        "score",
        lambda line: line.result.score.raw,
        "mean score against all others at the table",
        text=lambda line: _raw(line.result.score, _percent),
    ),
    Column(
        "adjusted_score",
        "adjusted",
        lambda line: line.result.score.value,
        "score without the luck of the cards, by playouts, with its 95 % interval",
        text=lambda line: _adjusted(line.result.score, _percent),
    ),
    Column(
        "points",
        "points/board",
        lambda line: line.result.points and line.result.points.raw,
        "points ahead of the others at the table",
        text=lambda line: _raw(line.result.points, signed),
    ),
    Column(
        "adjusted_points",
        "adjusted",
        lambda line: line.result.points and line.result.points.value,
        "points per board without the luck of the cards, with the 95 % interval",
        text=lambda line: _adjusted(line.result.points, signed),
    ),
]
"""The columns of luck-adjusted results in tables."""


@dataclass(frozen=True, slots=True)
class AdjustedStandings:
    """The bots with enough boards, the best adjusted score first.

    Attributes:
        columns: the columns of their table.
        measured: number of closed matches with stored luck.
        matches: number of closed matches.
        method: how the luck was measured; empty if no engine plays the game.
    """

    columns: ClassVar = ADJUSTED
    lines: tuple[AdjustedLine, ...]
    measured: int
    matches: int
    method: str

    @property
    def coverage(self) -> str:
        """How many matches were measured and how, as a sentence."""
        if not self.method:
            return "No engine can measure the luck of this game."
        return (
            f"The luck of {self.measured} of {self.matches} matches is measured, by {self.method}; "
            f"bots with fewer than {FEWEST} boards in them are omitted."
        )

    def to_json(self) -> dict[str, object]:
        return {
            "lines": [line.to_json() for line in self.lines],
            "matches_measured": self.measured,
            "matches": self.matches,
            "method": self.method,
        }


def of_ladder(engine: Engine, scope: LadderKey) -> AdjustedStandings:
    """Return the luck-adjusted results of the bots of a ladder.

    Bots with fewer than `FEWEST` boards are omitted: their multiples cannot be estimated.
    """
    try:
        method = method_of(scope.game)
    except NoEngine:
        method = ""
    stored = LUCK.of_tournaments(engine, scope.tournaments)
    boards: dict[str, list[BoardResult]] = {}
    matches = measured = 0
    for match in results.closed(engine, scope.tournaments):
        matches += 1
        stored_luck = stored.get(match.id)
        if stored_luck is None or stored_luck["method"] != method:
            continue
        measured += 1
        luck = MatchLuck.from_json(stored_luck)
        places = range(len(match.entrants))
        for place, entrant in enumerate(match.entrants):
            others = tuple(other for other in places if other != place)
            boards.setdefault(entrant, []).extend(
                board_results(match, luck, place, others, scope.clip)
            )
    lines = [
        AdjustedLine(entrant, adjusted_result(played))
        for entrant, played in boards.items()
        if len(played) >= FEWEST
    ]
    lines.sort(key=lambda line: (-line.result.score.value, line.entrant))
    return AdjustedStandings(tuple(lines), measured, matches, method)
