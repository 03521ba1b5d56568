"""State of the web server: the store, the current snapshot, caches and changes."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from arena.errors import StoreError
from arena.ladders import key
from arena.ladders.folds import Following
from arena.ladders.rating_history import Historian
from arena.ratings.crosstable import Cells, cells
from arena.ratings.standings import Table
from arena.services.web_process import WebSettings
from arena.store.bots import submissions
from arena.submissions.pending_uploads import PendingUploads
from arena.web.data.changes import ARENA, HISTORIES, SUBMISSIONS, Changes
from arena.web.data.event_subscriber import EventSubscriber
from arena.web.data.live_tables import Screen
from arena.web.data.rating_charts import RatingChart, trails_of
from arena.web.data.snapshot import Ladder, Sight, Watcher
from arena.web.data.verification import Verifications

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.store.tournaments.tournaments import Tournament


# Page cache: values computed from a ladder, valid while the ladder is unchanged.


_REST_FACTOR = 10
"""Minimum lifetime of a crosstable, as a multiple of the time of its computation.

The crosstable of a thousand bots takes a second, and a match may close every second.
"""


class PageCache:
    """The crosstables of the ladders.

    Pages are rendered in several threads without a lock here, so two threads may compute the same
    crosstable at the same time.
    """

    def __init__(self) -> None:
        self._cells: dict[str, tuple[Ladder, Cells, float]] = {}

    def cells(self, ladder: Ladder) -> Cells:
        """Return the crosstable of a ladder."""
        form, began = ladder.scope.form, time.monotonic()
        known = self._cells.get(form)
        if known is None or (known[0] is not ladder and began > known[2]):
            made = cells(ladder.table.meetings)
            until = began + (1 + _REST_FACTOR) * (time.monotonic() - began)
            known = self._cells[form] = ladder, made, until
        return known[1]


# Standings cache of tournaments, with the state of their incremental computation.


_KEPT = 32


class StandingsCache:
    """The standings of the last requested tournaments. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[str, tuple[Following, int, int, Table]] = OrderedDict()
        self._lock = Lock()

    def of(self, tournament: Tournament) -> Table:
        """Return the standings of a tournament from all its closed matches."""
        scope = key.of_tournament(tournament)
        with self._lock:
            kept = self._kept.pop(tournament.id, None)
            following = kept[0] if kept else Following(self._engine, scope.tournaments, scope.clip)
            fold = following.now()
            if kept and kept[1:3] == (following.folded, len(scope.entrants)):
                table = kept[3]
            else:
                table = fold.table(scope.entrants)
            self._kept[tournament.id] = following, following.folded, len(scope.entrants), table
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return table


log = logging.getLogger("arena.web")

_LOOK_SECONDS = 1.0
_RECALL_SECONDS, _LATEST_RECALL_SECONDS = 2.0, 900.0
_SLICE_SECONDS = 0.5
_RESTS = 19
"""Pause after an update of the rating histories, as a multiple of the update's duration."""
_LONGEST_PAUSE_SECONDS = 15.0
_PAUSE_SECONDS = 0.4
"""Minimum time between two reads of the store, in seconds."""


@dataclass(frozen=True, slots=True)
class Settings(WebSettings):
    """Web settings of the organiser, with addresses and paths.

    Args:
        redis: URL of the Redis with the events; empty: changes come only from the store, up to a
            second later.
        shelf: the directory for uploads; None: uploads are refused.
        data: the data folder whose services name the relay's address; None: unknown.
    """

    redis: str = ""
    shelf: PendingUploads | None = None
    data: Path | None = None


@dataclass(slots=True)
class Web:
    """The server's state. Only the event loop's thread changes it, except for the caches."""

    engine: Engine
    settings: Settings
    changes: Changes = field(default_factory=Changes)
    sight: Sight = field(default_factory=Sight)
    reads: bool = False
    """Whether the last read of the store succeeded."""
    trails: Mapping[str, RatingChart] = field(default_factory=dict)
    """Rating histories of the ladders by form; updated separately, after the snapshot."""
    kept: PageCache = field(default_factory=PageCache)
    verifications: Verifications = field(default_factory=Verifications)
    rankings: StandingsCache = field(init=False)
    screen: Screen = field(default_factory=Screen)
    _nudge: asyncio.Event = field(default_factory=asyncio.Event)
    _recalling: asyncio.Lock = field(default_factory=asyncio.Lock)
    _watcher: Watcher = field(init=False)
    _historian: Historian = field(init=False)
    newsroom: EventSubscriber = field(init=False)

    def __post_init__(self) -> None:
        self._watcher = Watcher(self.engine)
        self._historian = Historian(self.engine)
        self.newsroom = EventSubscriber(
            self.changes,
            self.nudge,
            spectators=self.settings.spectators,
            delay=self.settings.delay,
        )
        self.rankings = StandingsCache(self.engine)

    def nudge(self) -> None:
        """Request a read of the store now, not at the next interval (1 s)."""
        self._nudge.set()

    async def look(self) -> None:
        """Read the store once. After a failure the previous snapshot stays."""
        try:
            seen = await run_in_threadpool(self._watcher.look)
        except (SQLAlchemyError, StoreError, OSError) as error:
            log.warning("the store cannot be read, the pages show what was: %s", error)
            self.reads = False
            return
        self.reads = True
        if seen is not None:
            self.sight = seen
            self.changes.tell(ARENA)

    async def hear(self) -> None:
        """Receive the events of the arena forever; returns at once without a Redis."""
        if self.settings.redis:
            await self.newsroom.run(self.settings.redis, [match.id for match in self.sight.running])

    async def watch(self) -> None:
        """Keep the snapshot up to date, forever."""
        while True:
            began = time.monotonic()
            await self.look()
            # Use at most a quarter of the time, because matches run on the same machine. The pause
            # is limited to 15 s.
            took = time.monotonic() - began
            await asyncio.sleep(min(max(_PAUSE_SECONDS, 3 * took), _LONGEST_PAUSE_SECONDS))
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._nudge.wait()
            self._nudge.clear()

    async def receive(self) -> None:
        """Record changes of submissions, forever."""
        seen = 0, 0.0
        while True:
            # `look` logs errors of the store.
            with suppress(SQLAlchemyError, StoreError, OSError):
                now = await run_in_threadpool(submissions.mark, self.engine)
                if now != seen:
                    seen = now
                    self.changes.tell(SUBMISSIONS)
            await asyncio.sleep(_LOOK_SECONDS)

    async def recall(self, seconds: float = math.inf) -> bool:
        """Update the rating histories to the snapshot and return whether they are up to date.

        Args:
            seconds: the time limit; the next call continues the work.
        """
        async with self._recalling:
            return await self._recall(seconds)

    async def _recall(self, seconds: float) -> bool:
        histories = (self._historian, self.sight.ladders, self.trails, seconds)
        try:
            trails, is_whole = await run_in_threadpool(trails_of, *histories)
        except (SQLAlchemyError, StoreError, OSError, ArithmeticError) as error:
            log.warning("the histories cannot be read, the pages show what was: %s", error)
            return True
        if trails != self.trails:
            self.trails = trails
            self.changes.tell(HISTORIES)
        return is_whole

    async def remember(self) -> None:
        """Keep the rating histories up to date, forever, with about a twentieth of the time."""
        seen, is_whole = 0, True
        while True:
            # The comparison with yesterday changes even without new matches.
            with suppress(TimeoutError):
                async with asyncio.timeout(_LATEST_RECALL_SECONDS if is_whole else 0):
                    await self.changes.after({ARENA}, seen)
            began = time.monotonic()
            seen = self.changes.last
            is_whole = await self.recall(_SLICE_SECONDS)
            took = time.monotonic() - began
            await asyncio.sleep(min(max(_RECALL_SECONDS, _RESTS * took), _LATEST_RECALL_SECONDS))
