"""The standings of tournaments: what has been read and folded is not read and folded again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from arena import scope
from arena.standings import Table
from arena.store.folding import Following

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments import Tournament

_KEPT = 32


class Rankings:
    """The tables of the tournaments that were looked at last. For any thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[str, tuple[Following, int, int, Table]] = OrderedDict()
        self._lock = Lock()

    def of(self, tournament: Tournament) -> Table:
        """The standings of a tournament from all its closed matches."""
        own = scope.of_tournament(tournament)
        with self._lock:
            kept = self._kept.pop(tournament.id, None)
            following = kept[0] if kept else Following(self._engine, own.tournaments, own.clip)
            fold = following.now()
            if kept and kept[1:3] == (following.folded, len(own.entrants)):
                table = kept[3]
            else:
                table = fold.table(own.entrants)
            self._kept[tournament.id] = following, following.folded, len(own.entrants), table
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return table
