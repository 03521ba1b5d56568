"""Caches of the web server: crosstables of ladders, and standings of tournaments."""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from arena.ladders import ladder_key
from arena.ladders.ladder_sums import LadderSums
from arena.ratings.crosstable import Cells, cells
from arena.ratings.standings import Standings
from arena.web.data.snapshot import LadderSnapshot

if TYPE_CHECKING:
    from arena.store.tournaments.tournaments import Tournament


_REST_FACTOR = 10
"""Minimum lifetime of a crosstable, as a multiple of the time of its computation.

The crosstable of a thousand bots takes a second, and a match may close every second.
"""
_CACHE_SIZE = 32


class CrosstableCache:
    """The crosstables of the ladders.

    Pages are rendered in several threads without a lock here, so two threads may compute the same
    crosstable at the same time.
    """

    def __init__(self) -> None:
        self._cells: dict[str, tuple[LadderSnapshot, Cells, float]] = {}

    def cells(self, ladder: LadderSnapshot) -> Cells:
        """Return the crosstable of a ladder."""
        form, began = ladder.scope.form, time.monotonic()
        known = self._cells.get(form)
        if known is None or (known[0] is not ladder and began > known[2]):
            computed = cells(ladder.table.meetings)
            until = began + (1 + _REST_FACTOR) * (time.monotonic() - began)
            known = self._cells[form] = ladder, computed, until
        return known[1]


_CachedStandings = tuple[LadderSums, tuple[int, int], int, Standings]
"""The sums of a tournament, their revision, its number of entrants, and the standings."""


class StandingsCache:
    """The standings of the last requested tournaments. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[str, _CachedStandings] = OrderedDict()
        self._lock = Lock()

    def of(self, tournament: Tournament) -> Standings:
        """Return the standings of a tournament from all its closed matches."""
        scope = ladder_key.of_tournament(tournament)
        with self._lock:
            kept = self._kept.pop(tournament.id, None)
            following = kept[0] if kept else LadderSums(self._engine, scope.tournaments, scope.clip)
            fold = following.now()
            if kept and kept[1:3] == (following.revision, len(scope.entrants)):
                table = kept[3]
            else:
                table = fold.table(scope.entrants, scope.strength)
            self._kept[tournament.id] = following, following.revision, len(scope.entrants), table
            while len(self._kept) > _CACHE_SIZE:
                self._kept.popitem(last=False)
            return table
