"""What pages have computed of a ladder, kept while the ladder is the same."""

from __future__ import annotations

from arena.ratings.crosstable import Cells, cells
from arena.web.sight import Ladder


class Kept:
    """The crosstables. Pages are drawn in several threads: two may compute the same, once."""

    def __init__(self) -> None:
        self._cells: dict[str, tuple[Ladder, Cells]] = {}

    def cells(self, ladder: Ladder) -> Cells:
        """Who did how against whom on a ladder."""
        form = ladder.scope.form
        known = self._cells.get(form)
        if known is None or known[0] is not ladder:
            known = self._cells[form] = ladder, cells(ladder.table.meetings)
        return known[1]
