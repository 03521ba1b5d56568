"""Caches of the web server: crosstables of ladders, and standings of tournaments."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
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
"""Number of tournaments whose standings are kept."""


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


@dataclass(frozen=True, slots=True)
class _CachedStandings:
    """The standings of a tournament, with the state that they were computed from.

    Attributes:
        sums: the sums of the tournament's matches, which follow its new matches.
        revision: the revision of the sums.
        entrants: the number of entrants.
        table: the standings.
    """

    sums: LadderSums
    revision: tuple[int, int]
    entrants: int
    table: Standings


class StandingsCache:
    """The standings of the last requested tournaments. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._entries: OrderedDict[str, _CachedStandings] = OrderedDict()
        self._lock = Lock()

    def of(self, tournament: Tournament) -> Standings:
        """Return the standings of a tournament from all its closed matches."""
        scope = ladder_key.of_tournament(tournament)
        with self._lock:
            cached = self._entries.pop(tournament.id, None)
            sums = (
                cached.sums if cached else LadderSums(self._engine, scope.tournaments, scope.clip)
            )
            fold, entrants = sums.now(), len(scope.entrants)
            if cached and (cached.revision, cached.entrants) == (sums.revision, entrants):
                table = cached.table
            else:
                table = fold.table(scope.entrants, scope.strength)
            # The most recently requested one is the last.
            self._entries[tournament.id] = _CachedStandings(sums, sums.revision, entrants, table)
            while len(self._entries) > _CACHE_SIZE:
                self._entries.popitem(last=False)
            return table
