"""Export ladders with all their statistics as JSON and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.ladders import columns, ladder_values, stored_crosstables
from arena.ladders.columns import CELL, LADDER, csv_table
from arena.presentation.csv_text import csv_text

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey
    from arena.ladders.stored_crosstables import LadderCrosstable
    from arena.ratings.crosstable import CrosstableCell
    from arena.ratings.standings import Standings


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
            "standings": columns.results(self.table),
            "elo": ladder_values.settings_json(),
            "details": self.details,
            "timing": ladder_values.timing_json(self.table),
            "matrix": self.matrix.to_json(),
        }


def of_table(engine: Engine, scope: LadderKey, table: Standings) -> LadderExport:
    """Combine the standings of a ladder with its crosstable and details."""
    return LadderExport(
        scope,
        table,
        stored_crosstables.of_table(engine, scope, table),
        ladder_values.details_json(engine, scope, table),
    )


def as_csv(export: LadderExport) -> str:
    """Return the CSV of the ladder page, with the crosstable as further columns.

    Shares and scores are from 0 to 1, times in milliseconds. Unknown values are empty.
    """
    heads, rows = csv_table(LADDER, columns.lines_of(export.table))
    cell_heads, _ = csv_table(CELL, [])
    against = [f"{head}_against_{name}" for name in export.table.entrants for head in cell_heads]
    cells = [
        [value for cell in row for value in _cell(cell, len(cell_heads))]
        for row in export.matrix.table.cells
    ]
    lines = [[*row, *crossed] for row, crossed in zip(rows, cells, strict=True)]
    return csv_text([[*heads, *against], *lines])


def _cell(cell: CrosstableCell | None, size: int) -> Sequence[object]:
    return [None] * size if cell is None else csv_table(CELL, [cell])[1][0]
