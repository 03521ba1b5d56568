"""What the web server holds: the store, the last sight of the arena, and what has changed."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from arena.store.errors import StoreError
from arena.web.changes import ARENA, Changes
from arena.web.sight import Sight, Watcher

log = logging.getLogger("arena.web")

_LOOK_SECONDS = 1.0
_PAUSE_SECONDS = 0.4
"""At least so long between two looks, however much happens."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the organiser wants it.

    redis: where news come from; empty: from the store alone, a second later.
    spectators: whether tables are shown while they are played.
    delay: so many seconds later than it happened.
    watchers: how many are told the news of pages at a time; one address has a quarter of it.
    rate: how many pages a second one address may ask for, after a burst; 0: as many as it likes.
    proxied: whether a proxy of ours stands before it, and says for whom it asks.
    """

    redis: str = ""
    spectators: bool = True
    delay: float = 0.0
    watchers: int = 2000
    rate: float = 20.0
    proxied: bool = False


@dataclass(slots=True)
class Web:
    """The server's state. Only the event loop changes it."""

    engine: Engine
    settings: Settings
    changes: Changes = field(default_factory=Changes)
    sight: Sight = field(default_factory=Sight)
    _nudge: asyncio.Event = field(default_factory=asyncio.Event)
    _watcher: Watcher = field(init=False)

    def __post_init__(self) -> None:
        self._watcher = Watcher(self.engine)

    def nudge(self) -> None:
        """There may be news: look now rather than within a second."""
        self._nudge.set()

    async def look(self) -> None:
        """Looks at the store once; what cannot be read stays as it was seen last."""
        try:
            seen = await run_in_threadpool(self._watcher.look)
        except (SQLAlchemyError, StoreError, OSError) as error:
            log.warning("the store cannot be read, the pages show what was: %s", error)
            return
        if seen is not None:
            self.sight = seen
            self.changes.tell(ARENA)

    async def watch(self) -> None:
        """Keeps the sight up to date, for ever."""
        while True:
            began = time.monotonic()
            await self.look()
            # Half of the time at the most, so that the rest of the machine can play.
            took = time.monotonic() - began
            await asyncio.sleep(max(_PAUSE_SECONDS, took))
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._nudge.wait()
            self._nudge.clear()
