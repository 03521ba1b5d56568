"""Crosstable of a ladder as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.ladders import ladder_rows, ladder_values
from arena.ladders.ladder_rows import Ladder
from arena.ratings.crosstable import CrosstableCell
from arena.web import paging, wording
from arena.web.data.strength_gaps import StrengthGaps
from arena.web.data.web_state import WebState
from arena.web.page import InvalidQuery, Page, PageRequest, TextTable
from arena.web.pages.ladder import find_ladder

DEFAULT_BOTS, MAX_BOTS = 30, 60
"""Number of bots in the table: default and maximum."""
LEADS = (0.0, 0.1, 0.25)
"""Leads (`CrosstableCell.lead`) above which a cell has the second, third and fourth shade."""
LIKELY = (0.84, 0.975, 0.999)
"""Likelihoods of superiority above which a cell has these shades."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One cell of the heat map.

    Args:
        other: the opponent.
        share: the shown value, from 0 to 1; None on the diagonal and for pairs that have not met.
        heat: CSS classes of the colour.
        title: the cell in words.
        cell: the results; None if the pair has not met.
        superiority: likelihood that the row's bot is stronger; None on the diagonal.
    """

    other: str
    share: float | None
    heat: str
    title: str
    cell: CrosstableCell | None
    superiority: float | None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A bot, its place from 1, and its cells."""

    place: int
    name: str
    boxes: tuple[MatrixCell, ...]


def page(web: WebState, page_request: PageRequest) -> Page:
    """Return the crosstable page.

    Raises:
        PageNotFound: the form does not have a ladder.
        InvalidQuery: the query is invalid.
    """
    ladder = find_ladder(web, page_request.path["form"])
    form, los = ladder.scope.form, _flag(page_request, "los")
    places = searched_places(ladder, page_request.query.get("find", ""))
    piece = paging.selection_of(page_request, DEFAULT_BOTS, MAX_BOTS).cut(places)
    names = [ladder.table.lines[place - 1].entrant for place in piece.items]
    pairs = _Pairs(
        ladder, ladder_rows.read_crosstable(web.engine, ladder.scope, names), web.gaps.of(ladder)
    )
    rows = [_row(pairs, place, piece.items, los) for place in piece.items]
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
        text=_text(rows, los),
        parts=("matrix-rows",),
        headers=piece.headers,
    )


def searched_places(ladder: Ladder, find: str) -> list[int]:
    """Return the places, from 1, of the bots whose names contain any search word.

    Without search words, all bots match.
    """
    terms = find.lower().split()
    names = enumerate(ladder.table.entrants, 1)
    return [at for at, name in names if not terms or any(w in name.lower() for w in terms)]


def heat(cell: CrosstableCell) -> str:
    """Return the CSS classes of the colour of a score.

    The shade depends on the end of the interval that is nearer to one half, so that few matches
    never look stronger than many. The first shade is for scores that are not significant.
    """
    if cell.score == 0.5:
        return "even"
    lead = abs(cell.lead)
    return f"{'up' if cell.score > 0.5 else 'down'} shade{1 + sum(lead > step for step in LEADS)}"


def _heat_of_likelihood(superiority: float) -> str:
    likely = max(superiority, 1 - superiority)
    shade = 1 + sum(likely > step for step in LIKELY)
    return f"{'up' if superiority >= 0.5 else 'down'} shade{shade}"


def _flag(page_request: PageRequest, name: str) -> bool:
    text = page_request.query.get(name, "")
    if text not in ("", "0", "1"):
        raise InvalidQuery(f"{name} must be 1 or 0.")
    return text == "1"


@dataclass(frozen=True, slots=True)
class _Pairs:
    """What is known of the pairs of a ladder."""

    ladder: Ladder
    cells: Mapping[tuple[str, str], CrosstableCell]
    gaps: StrengthGaps


def _row(pairs: _Pairs, place: int, places: Sequence[int], los: bool) -> MatrixRow:
    lines = pairs.ladder.table.lines
    boxes = tuple(_box(pairs, place, other, los) for other in places)
    return MatrixRow(place, lines[place - 1].entrant, boxes)


def _box(pairs: _Pairs, place: int, to: int, los: bool) -> MatrixCell:
    lines = pairs.ladder.table.lines
    name, other = lines[place - 1].entrant, lines[to - 1].entrant
    if place == to:
        return MatrixCell(other, None, "", "", None, None)
    cell = pairs.cells.get((name, other))
    superior = pairs.gaps.superiority(name, other)
    if los:
        title = f"{name} is stronger than {other} with {superior:.1%}"
        return MatrixCell(other, superior, _heat_of_likelihood(superior), title, cell, superior)
    if cell is None:
        return MatrixCell(
            other,
            None,
            "",
            f"{name} and {other} have not played against each other",
            None,
            superior,
        )
    title = (
        f"{name} against {other}: {cell.score:.1%}, from {cell.low:.0%} to {cell.high:.0%}, "
        f"in {cell.matches} match{'es' if cell.matches != 1 else ''}"
    )
    return MatrixCell(other, cell.score, heat(cell), title, cell, superior)


def _as_json(box: MatrixCell) -> dict[str, Any] | None:
    if box.superiority is None:
        return None
    return {**(box.cell.to_json() if box.cell else {}), "superiority": box.superiority}


def _csv(rows: Sequence[MatrixRow]) -> TextTable:
    heads = ("bot", "opponent", "matches", "score", "low", "high", "superiority")
    return TextTable(
        heads,
        [
            (
                *(row.name, box.other),
                *(
                    (c.matches, c.score, c.low, c.high)
                    if (c := box.cell)
                    else (0, None, None, None)
                ),
                box.superiority,
            )
            for row in rows
            for box in row.boxes
            if box.superiority is not None
        ],
    )


def _text(rows: Sequence[MatrixRow], los: bool) -> TextTable:
    def cell(box: MatrixCell) -> str:
        if box.share is None:
            return "·"
        return f"{100 * box.share:.1f}" if los else f"{100 * box.share:.0f}"

    heads = ("#", "<bot", *(str(row.place) for row in rows))
    return TextTable(heads, [(row.place, row.name, *map(cell, row.boxes)) for row in rows])
