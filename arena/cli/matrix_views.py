"""Who did how against whom, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from arena.cli import ladder, output

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.cli.scope import Scope
    from arena.ratings.crosstable import Cell, Crosstable
    from arena.ratings.gifts import Gift
    from arena.ratings.meetings import Meetings
    from arena.ratings.strength import Strengths
    from arena.standings import Table

NOTHING = "·"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The crosstable of a ladder in the order of strength, and what goes with it."""

    table: Crosstable
    strengths: Strengths
    gifts: tuple[Gift, ...]

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            **self.table.to_json(),
            "superiority": [list(row) for row in self.strengths.superiority],
            "strengths": [line.value for line in self.strengths.lines],
            "gap_errors": [list(row) for row in self.strengths.gap_errors],
            "gifts": [asdict(gift) for gift in self.gifts],
        }


def of_scope(engine: Engine, scope: Scope) -> Matrix | None:
    """The matrix of what is ranked together; None if nobody is there."""
    from arena.ratings.strength import strengths
    from arena.store import folding

    met = folding.meetings(engine, scope.tournaments)
    found = strengths(met, entrants=scope.entrants)
    return _matrix(engine, scope, met, found) if found.lines else None


def of_table(engine: Engine, scope: Scope, table: Table) -> Matrix:
    """The matrix of a ladder that is there already."""
    return _matrix(engine, scope, table.meetings, table.strengths)


def _matrix(engine: Engine, scope: Scope, met: Meetings, found: Strengths) -> Matrix:
    from arena.ratings.crosstable import crosstable

    names = [line.entrant for line in found.lines]
    return Matrix(crosstable(met, names), found, ladder.gifts(engine, scope))


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
    for at, row in enumerate(matrix.strengths.superiority):
        yield [NOTHING if at == to else tell(100 * likely) for to, likely in enumerate(row)]
