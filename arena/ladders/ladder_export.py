"""Export ladders with all their statistics as JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.ladders import ladder_values
from arena.ladders.ladder_crosstable import crosstable_of_ladder
from arena.presentation.csv_text import csv_text
from arena.ratings.closed_match import FAULTS

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_crosstable import LadderCrosstable
    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.standings import FittedStandings, Standings, StandingsLine


@dataclass(frozen=True, slots=True)
class LadderExport:
    """A ladder with its crosstable."""

    scope: LadderKey
    table: Standings
    matrix: LadderCrosstable
    details: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "form": self.scope.form,
            "tournaments": list(self.scope.tournaments),
            "standings": ladder_values.to_json(self.table),
            "elo": ladder_values.settings_json(),
            "details": self.details,
            "timing": ladder_values.timing_json(self.table),
            "matrix": self.matrix.to_json(),
        }


def export_of_ladder(engine: Engine, scope: LadderKey, fitted: FittedStandings) -> LadderExport:
    """Combine the standings of a ladder with its crosstable and details."""
    return LadderExport(
        scope,
        fitted.table,
        crosstable_of_ladder(engine, scope, fitted),
        ladder_values.details_json(engine, scope, fitted.table),
    )


def as_csv(export: LadderExport) -> str:
    """Return one line for each bot, the strongest first: all statistics, then the crosstable.

    Shares and scores are from 0 to 1, times in milliseconds. Unknown values are empty.
    """
    rows: list[list[object]] = []
    names = export.matrix.table.entrants
    against = [
        f"{what} against {name}" for name in names for what in ("score", "low", "high", "matches")
    ]
    for number, (line, cells) in enumerate(
        zip(export.table.lines, export.matrix.table.cells, strict=True)
    ):
        facts = dict(_facts(export, line))
        if not number:
            rows.append([*facts, *against])
        meetings: list[object] = []
        for cell in cells:
            meetings += ["", "", "", ""]
            if cell is not None:
                meetings[-4:] = [cell.score, cell.low, cell.high, cell.matches]
        rows.append([*facts.values(), *meetings])
    return csv_text(rows)


def _facts(export: LadderExport, line: StandingsLine) -> Iterator[tuple[str, object]]:
    strength, board = line.strength, line.board
    yield "ladder", export.scope.form
    yield "rank first", strength.first
    yield "rank last", strength.last
    yield "bot", line.entrant
    yield "strength", strength.value
    yield "strength low", strength.low
    yield "strength high", strength.high
    yield "strength error", strength.error
    yield "bound side", strength.bound.side if strength.bound else None
    yield "bound", strength.bound.value if strength.bound else None
    yield "superiority to next", strength.superiority_to_next
    yield "provisional", int(strength.provisional)
    yield "anchored", int(strength.anchored)
    yield "elo", line.elo
    yield "matches", line.matches
    yield "games", line.games
    yield "wins", line.wins
    yield "draws", line.draws
    yield "losses", line.losses
    yield "mean score", line.mean
    yield "points", line.points
    yield "points per board", board.mean if board else None
    yield "points per board low", board.low if board else None
    yield "points per board high", board.high if board else None
    for word in FAULTS:
        yield word, line.faults.get(word, 0)
    yield "forfeits", line.forfeits
    times = export.table.thinking.get(line.entrant)
    yield "decisions", times.decisions if times else 0
    yield "p50 ms", times.quantile(0.5) if times else None
    yield "p95 ms", times.p95 if times else None
