"""What the web server holds: the store, the last sight of the arena, and what has changed."""

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


# What pages have computed of a ladder, kept while the ladder is the same.


_REST_FACTOR = 10
"""After a crosstable was computed it is good for so many times as long, whatever has closed: that
of a thousand bots takes a second, and a match may close every second."""


class PageCache:
    """The crosstables. Pages are drawn in several threads: two may compute the same, once."""

    def __init__(self) -> None:
        self._cells: dict[str, tuple[Ladder, Cells, float]] = {}

    def cells(self, ladder: Ladder) -> Cells:
        """Who did how against whom on a ladder."""
        form, began = ladder.scope.form, time.monotonic()
        known = self._cells.get(form)
        if known is None or (known[0] is not ladder and began > known[2]):
            made = cells(ladder.table.meetings)
            until = began + (1 + _REST_FACTOR) * (time.monotonic() - began)
            known = self._cells[form] = ladder, made, until
        return known[1]


# The standings of tournaments: what has been read and folded is not read and folded again.


_KEPT = 32


class StandingsCache:
    """The tables of the tournaments that were looked at last. For any thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[str, tuple[Following, int, int, Table]] = OrderedDict()
        self._lock = Lock()

    def of(self, tournament: Tournament) -> Table:
        """The standings of a tournament from all its closed matches."""
        own = key.of_tournament(tournament)
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


log = logging.getLogger("arena.web")

_LOOK_SECONDS = 1.0
_RECALL_SECONDS, _LATEST_RECALL_SECONDS = 2.0, 900.0
_SLICE_SECONDS = 0.5
_RESTS = 19
"""After the histories were brought up to date they rest so many times as long."""
_LONGEST_PAUSE_SECONDS = 15.0
_PAUSE_SECONDS = 0.4
"""At least so long between two looks, however much happens."""


@dataclass(frozen=True, slots=True)
class Settings(WebSettings):
    """How the organiser wants it, and where it is.

    redis: where news come from; empty: from the store alone, a second later.
    shelf: where what owners push is laid down; None: nothing is taken.
    data: the data folder, whose services say where their relay is; None: there is none.
    """

    redis: str = ""
    shelf: PendingUploads | None = None
    data: Path | None = None


@dataclass(slots=True)
class Web:
    """The server's state. Only the event loop changes it, but for what is kept."""

    engine: Engine
    settings: Settings
    changes: Changes = field(default_factory=Changes)
    sight: Sight = field(default_factory=Sight)
    reads: bool = False
    """Whether the store could be read at the last look."""
    trails: Mapping[str, RatingChart] = field(default_factory=dict)
    """The histories of the ladders by form; made behind the sight, in their own time."""
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
        """There may be news: look now rather than within a second."""
        self._nudge.set()

    async def look(self) -> None:
        """Looks at the store once; what cannot be read stays as it was seen last."""
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
        """Hears the news of the arena for ever; without a Redis there are none."""
        if self.settings.redis:
            await self.newsroom.run(self.settings.redis, [one.id for one in self.sight.running])

    async def watch(self) -> None:
        """Keeps the sight up to date, for ever."""
        while True:
            began = time.monotonic()
            await self.look()
            # A quarter of the time, so that the rest of the machine can play; but nobody is to
            # wait for very long.
            took = time.monotonic() - began
            await asyncio.sleep(min(max(_PAUSE_SECONDS, 3 * took), _LONGEST_PAUSE_SECONDS))
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._nudge.wait()
            self._nudge.clear()

    async def receive(self) -> None:
        """Tells when anything has happened to submissions, for ever."""
        seen = 0, 0.0
        while True:
            # What cannot be read is told of by the looks at the store.
            with suppress(SQLAlchemyError, StoreError, OSError):
                now = await run_in_threadpool(submissions.mark, self.engine)
                if now != seen:
                    seen = now
                    self.changes.tell(SUBMISSIONS)
            await asyncio.sleep(_LOOK_SECONDS)

    async def recall(self, seconds: float = math.inf) -> bool:
        """Brings the histories up to date with the sight; says whether they are.

        seconds: after so long the rest is left for the next time.
        """
        async with self._recalling:
            return await self._recall(seconds)

    async def _recall(self, seconds: float) -> bool:
        told = (self._historian, self.sight.ladders, self.trails, seconds)
        try:
            trails, is_whole = await run_in_threadpool(trails_of, *told)
        except (SQLAlchemyError, StoreError, OSError, ArithmeticError) as error:
            log.warning("the histories cannot be read, the pages show what was: %s", error)
            return True
        if trails != self.trails:
            self.trails = trails
            self.changes.tell(HISTORIES)
        return is_whole

    async def remember(self) -> None:
        """Keeps the histories up to date, for ever, in a twentieth of the time."""
        seen, is_whole = 0, True
        while True:
            # Yesterday moves on even if nothing happens.
            with suppress(TimeoutError):
                async with asyncio.timeout(_LATEST_RECALL_SECONDS if is_whole else 0):
                    await self.changes.after({ARENA}, seen)
            began = time.monotonic()
            seen = self.changes.last
            is_whole = await self.recall(_SLICE_SECONDS)
            took = time.monotonic() - began
            await asyncio.sleep(min(max(_RECALL_SECONDS, _RESTS * took), _LATEST_RECALL_SECONDS))
