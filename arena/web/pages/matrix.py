"""Crosstable of a ladder as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.ladders import ladder_rows, ladder_values
from arena.ladders.columns import Rendering, columns_of, csv_table, json_schema
from arena.ladders.ladder_columns import CELL, cell_json
from arena.ladders.ladder_rows import Ladder
from arena.presentation import wording
from arena.ratings.crosstable import CrosstableCell
from arena.web import paging
from arena.web.data.strength_gaps import StrengthGaps
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageRequest, TextTable
from arena.web.pages.ladder import find_ladder

DEFAULT_BOTS, MAX_BOTS = 30, 60
"""Number of bots in the table: default and maximum."""
DISTANCES = (0.1, 0.25, 0.4)
"""Distances of a score from one half above which a cell has the second, third and fourth shade."""
LIKELY = (0.84, 0.975, 0.999)
"""Likelihoods of superiority above which a cell has these shades."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One cell of a crosstable.

    Args:
        cell: the results; None if the pair has not met.
        superiority: likelihood that the row's bot is stronger; None on the diagonal and if it is
            not shown.
        text: the shown value; empty on the diagonal and for pairs that have not met.
        heat: CSS classes of the colour.
        title: the cell in words; empty on the diagonal.
        link: link to the matches of the pair; empty without one.
    """

    other: str
    cell: CrosstableCell | None = None
    superiority: float | None = None
    text: str = ""
    heat: str = ""
    title: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A bot, its place from 1, and its cells."""

    place: int
    name: str
    boxes: tuple[MatrixCell, ...]


def matrix_page(web: WebState, page_request: PageRequest) -> Page:
    """Return the crosstable page; raises PageNotFound or InvalidQuery."""
    ladder = find_ladder(web, page_request.path["form"])
    form, los = ladder.scope.name, _flag(page_request, "los")
    places = searched_places(ladder, page_request.query.get("find", ""))
    piece = paging.selection_of(page_request, DEFAULT_BOTS, MAX_BOTS).cut(places)
    entrants = [line.entrant for _, line in ladder.table.ranked]
    names = [entrants[place - 1] for place in piece.items]
    cells = ladder_rows.read_crosstable(web.engine, ladder.scope, names)
    gaps = web.gaps.of(ladder)
    rows = [
        MatrixRow(place, name, tuple(_box(cells, gaps, name, other, los) for other in names))
        for place, name in zip(piece.items, names, strict=True)
    ]
    title = "likelihood of superiority" if los else "crosstable"
    return Page(
        title=f"{wording.form_name(form)}: {title}",
        template="matrix.html",
        model={
            "form": form,
            "rows": rows,
            "piece": piece,
            "los": los,
            "every": len(ladder.table.lines),
            "find": page_request.query.get("find", ""),
            "remarks": list(ladder_values.remarks(ladder.table)),
        },
        data={
            "form": form,
            "list": piece.to_json(),
            "bots": [row.name for row in rows],
            "cells": [[_as_json(box) for box in row.boxes] for row in rows],
        },
        csv=_csv(rows),
        text=_text(rows),
        parts=("matrix-rows",),
        headers=piece.headers,
    )


def searched_places(ladder: Ladder, find: str) -> list[int]:
    """Return the places, from 1, of the bots whose names contain any search word.

    Without search words, all bots match.
    """
    terms = find.lower().split()
    names = ((place, line.entrant) for place, line in ladder.table.ranked)
    return [at for at, name in names if not terms or any(w in name.lower() for w in terms)]


def heat(share: float, distance: float, steps: Sequence[float]) -> str:
    """Return the CSS classes of the colour of a cell.

    Args:
        share: the score or likelihood; its side of one half decides the colour.
        distance: how certain it is.
        steps: the values above which a distance has the second, third and fourth shade.
    """
    if share == 0.5:
        return "even"
    return f"{'up' if share > 0.5 else 'down'} shade{1 + sum(distance > step for step in steps)}"


def score_cell(
    name: str, other: str, cell: CrosstableCell | None, superiority: float | None = None
) -> MatrixCell:
    """Return a cell that shows the score of a bot against another.

    The shade depends on the score. A cell is sure if the interval does not contain one half.
    """
    if name == other:
        return MatrixCell(other)
    if cell is None:
        title = f"{name} and {other} have not played against each other"
        return MatrixCell(other, None, superiority, title=title)
    shown = columns_of(CELL, Rendering.PAGE)
    words = ", ".join(f"{column.title} {column.text_of(cell)}" for column in shown)
    return MatrixCell(
        other,
        cell,
        superiority,
        shown[0].text_of(cell),
        heat(cell.score, abs(cell.score - 0.5), DISTANCES) + " sure" * bool(cell.lead),
        f"{name} against {other}: {words}",
    )


def _flag(page_request: PageRequest, name: str) -> bool:
    text = page_request.query.get(name, "")
    if text not in ("", "0", "1"):
        raise InvalidQuery(f"{name} must be 1 or 0.")
    return text == "1"


def _box(
    cells: Mapping[tuple[str, str], CrosstableCell],
    gaps: StrengthGaps,
    name: str,
    other: str,
    los: bool,
) -> MatrixCell:
    if name == other:
        return MatrixCell(other)
    cell, likely = cells.get((name, other)), gaps.superiority(name, other)
    if not los:
        return score_cell(name, other, cell, likely)
    title = f"{name} is stronger than {other} with {likely:.1%}"
    shade = heat(likely, max(likely, 1 - likely), LIKELY)
    return MatrixCell(other, cell, likely, f"{100 * likely:.1f}", shade, title)


def schema() -> dict[str, Any]:
    """Return the JSON schema of the cells; a pair that has not met has only the superiority."""
    box = json_schema(CELL) | {"type": ["object", "null"], "required": ["superiority"]}
    return {"cells": {"type": "array", "items": {"type": "array", "items": box}}}


def _as_json(box: MatrixCell) -> dict[str, Any] | None:
    if box.superiority is None:
        return None
    return {**(cell_json(box.cell) or {}), "superiority": box.superiority}


def _csv(rows: Sequence[MatrixRow]) -> TextTable:
    shown = [(row, box) for row in rows for box in row.boxes if box.superiority is not None]
    heads, _ = csv_table(CELL, [])
    unmet = [0 if head == "matches" else None for head in heads]
    return TextTable(
        ("bot", "opponent", *heads, "superiority"),
        [
            (
                *(row.name, box.other),
                *(csv_table(CELL, [box.cell])[1][0] if box.cell else unmet),
                box.superiority,
            )
            for row, box in shown
        ],
    )


def _text(rows: Sequence[MatrixRow]) -> TextTable:
    heads = ("#", "<bot", *(str(row.place) for row in rows))
    cells = [[box.text or "·" for box in row.boxes] for row in rows]
    return TextTable(heads, [(row.place, row.name, *c) for row, c in zip(rows, cells, strict=True)])
