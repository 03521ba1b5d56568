"""What the web server holds: the store, the last sight of the arena, and what has changed."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from arena.histories import Historian
from arena.manners import Manners
from arena.store import submissions
from arena.store.errors import StoreError
from arena.submissions.shelf import Shelf
from arena.web.changes import ARENA, HISTORIES, SUBMISSIONS, Changes
from arena.web.kept import Kept
from arena.web.newsroom import Newsroom
from arena.web.rankings import Rankings
from arena.web.sight import Sight, Watcher
from arena.web.tables import Screen
from arena.web.trails import Trail, trails_of
from arena.web.verification import Verifications

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
class Settings(Manners):
    """How the organiser wants it, and where it is.

    redis: where news come from; empty: from the store alone, a second later.
    shelf: where what owners push is laid down; None: nothing is taken.
    data: the data folder, whose services say where their relay is; None: there is none.
    """

    redis: str = ""
    shelf: Shelf | None = None
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
    trails: Mapping[str, Trail] = field(default_factory=dict)
    """The histories of the ladders by form; made behind the sight, in their own time."""
    kept: Kept = field(default_factory=Kept)
    verifications: Verifications = field(default_factory=Verifications)
    rankings: Rankings = field(init=False)
    screen: Screen = field(default_factory=Screen)
    _nudge: asyncio.Event = field(default_factory=asyncio.Event)
    _recalling: asyncio.Lock = field(default_factory=asyncio.Lock)
    _watcher: Watcher = field(init=False)
    _historian: Historian = field(init=False)
    newsroom: Newsroom = field(init=False)

    def __post_init__(self) -> None:
        self._watcher = Watcher(self.engine)
        self._historian = Historian(self.engine)
        self.newsroom = Newsroom(
            self.changes,
            self.nudge,
            spectators=self.settings.spectators,
            delay=self.settings.delay,
        )
        self.rankings = Rankings(self.engine)

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
