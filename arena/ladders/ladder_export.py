"""Export ladders with all their statistics as JSON and CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.ladders import ladder_columns, ladder_values, stored_crosstables
from arena.ladders.columns import csv_table
from arena.ladders.ladder_columns import CELL, LADDER
from arena.presentation.csv_text import csv_text
from arena.ratings.crosstable import crosstable

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.ladder_key import LadderKey
    from arena.ratings.standings import Standings


def ladder_json(engine: Engine, scope: LadderKey, table: Standings) -> dict[str, Any]:
    """Return a ladder with its crosstable and details as plain values for JSON."""
    return {
        "form": scope.form,
        "tournaments": list(scope.tournaments),
        "standings": ladder_columns.results(table),
        "elo": ladder_values.settings_json(),
        "details": ladder_values.details_json(engine, scope, table),
        "timing": ladder_values.timing_json(table),
        "matrix": stored_crosstables.of_table(engine, scope, table).to_json(),
    }


def ladder_csv(table: Standings) -> str:
    """Return the CSV of the ladder page, with the crosstable as further columns.

    Shares and scores are from 0 to 1, times in milliseconds. Unknown values are empty.
    """
    heads, rows = csv_table(LADDER, ladder_columns.lines_of(table))
    cell_heads, _ = csv_table(CELL, [])
    against = [f"{head}_against_{name}" for name in table.entrants for head in cell_heads]
    unmet = [None] * len(cell_heads)
    crossed = [
        [value for cell in cells for value in (csv_table(CELL, [cell])[1][0] if cell else unmet)]
        for cells in crosstable(table.meetings, table.entrants).cells
    ]
    lines = [[*row, *cells] for row, cells in zip(rows, crossed, strict=True)]
    return csv_text([[*heads, *against], *lines])
