"""What pages have computed of a ladder, kept while the ladder is the same."""

from __future__ import annotations

import time

from arena.ratings.crosstable import Cells, cells
from arena.web.sight import Ladder

_RESTS = 10
"""After a crosstable was computed it is good for so many times as long, whatever has closed: that
of a thousand bots takes a second, and a match may close every second."""


class Kept:
    """The crosstables. Pages are drawn in several threads: two may compute the same, once."""

    def __init__(self) -> None:
        self._cells: dict[str, tuple[Ladder, Cells, float]] = {}

    def cells(self, ladder: Ladder) -> Cells:
        """Who did how against whom on a ladder."""
        form, began = ladder.scope.form, time.monotonic()
        known = self._cells.get(form)
        if known is None or (known[0] is not ladder and began > known[2]):
            made = cells(ladder.table.meetings)
            until = began + (1 + _RESTS) * (time.monotonic() - began)
            known = self._cells[form] = ladder, made, until
        return known[1]
