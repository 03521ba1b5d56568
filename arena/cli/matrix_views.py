"""Who did how against whom, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from arena.cli import output

if TYPE_CHECKING:
    from arena.matrices import Matrix
    from arena.ratings.crosstable import Cell

NOTHING = "·"


def show(matrix: Matrix, superiority: bool) -> None:
    """A matrix for people: scores and meetings, or how likely one is the stronger."""
    cells = _superiority(matrix) if superiority else _scores(matrix)
    names = matrix.table.entrants
    rows = [(at, name, *row) for at, (name, row) in enumerate(zip(names, cells, strict=True), 1)]
    output.table(("#", "<bot", *map(str, range(1, len(names) + 1))), rows)


def explain(superiority: bool) -> None:
    """Says what the cells mean."""
    if superiority:
        output.hint("how likely the bot of the line is stronger than that of the column, in %")
        return
    output.hint(
        "the line's score against the column in %, its 95 % interval, (matches); a draw is half a "
        "win"
    )


def _scores(matrix: Matrix) -> Iterator[list[str]]:
    for row in matrix.table.cells:
        yield [_score(cell) if cell else NOTHING for cell in row]


def _score(cell: Cell) -> str:
    return f"{100 * cell.score:.0f} {100 * cell.low:.0f}–{100 * cell.high:.0f} ({cell.matches})"


def _superiority(matrix: Matrix) -> Iterator[list[str]]:
    tell: Callable[[float], str] = "{:.1f}".format
    for at in range(len(matrix.strengths.lines)):
        row = matrix.strengths.gaps.superiorities(at)
        yield [NOTHING if at == to else tell(100 * likely) for to, likely in enumerate(row)]
