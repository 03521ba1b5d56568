"""State of the web server: the store, the current snapshot, caches and changes."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from arena.config import Folder
from arena.errors import StoreError
from arena.services.queue.worker_list import WorkerList
from arena.services.web_process import WebSettings
from arena.store.bots import submissions
from arena.store.matches.listing import Match
from arena.store.tournaments.tournaments import Tournament
from arena.submissions.pending_uploads import PendingUploads
from arena.web.data.changes import ARENA, SUBMISSIONS, Changes
from arena.web.data.event_subscriber import EventSubscriber
from arena.web.data.live_tables import LiveMatches, LiveTable, live_table
from arena.web.data.play_tables import PlayTables
from arena.web.data.snapshot import ArenaSnapshot, SnapshotReader
from arena.web.data.strength_gaps import FittedGaps
from arena.web.data.tournament_standings import ChampionsCache
from arena.web.data.verification import Verifications
from arena.web.data.win_probabilities import CANNOT_REDEAL, WinProbabilities, why_hidden

log = logging.getLogger("arena.web")

_READ_SECONDS = 1.0
"""Longest wait for a request (`nudge`), after which the store is read again."""
_MIN_READ_PAUSE_SECONDS, _MAX_READ_PAUSE_SECONDS = 0.4, 15.0
"""Limits of the pause between two reads of the store."""


@dataclass(frozen=True, slots=True)
class ServerSettings(WebSettings):
    """Web settings of the organiser, with addresses and paths.

    Args:
        redis: URL of the Redis with the events; empty: changes come only from the store, up to a
            second later.
        pending_uploads: the directory for uploads; None: uploads are refused.
        data: the data folder whose services name the relay's address; None: unknown.
        loopback: whether only this machine can reach the server's socket.
    """

    redis: str = ""
    pending_uploads: PendingUploads | None = None
    data: Path | None = None
    loopback: bool = False

    @property
    def seats_people(self) -> bool:
        """Whether people can play against bots."""
        allowed = self.loopback and not self.proxied if self.play is None else self.play
        return allowed and self.data is not None


class WebState:
    """The server's state. Only the event loop's thread changes it, except for the caches."""

    def __init__(self, engine: Engine, settings: ServerSettings) -> None:
        self.engine = engine
        self.settings = settings
        self.changes = Changes()
        self.snapshot = ArenaSnapshot()
        self.is_readable = False
        """Whether the last read of the store succeeded."""
        self.verifications = Verifications()
        self.gaps = FittedGaps(engine)
        self.champions = ChampionsCache(engine)
        self.workers = WorkerList(settings.redis)
        self.win_probabilities = WinProbabilities(self.changes)
        self.featured = LiveMatches(1, changes=True)
        """The match on the home page: one with open cards, until its game ends."""
        self.live_matches = LiveMatches()
        self.events = EventSubscriber(
            self.changes, self.nudge, spectators=settings.spectators, delay=settings.delay
        )
        folder = None if settings.data is None else Folder(settings.data)
        self.play_tables = PlayTables(folder, self.changes, settings.play_tables)
        self._nudge = asyncio.Event()
        self._reader = SnapshotReader(engine)

    def live_table(self, match: Match, tournament: Tournament) -> LiveTable | None:
        """Return the last published table of a running match, and request its win probability."""
        table = live_table(self.events.positions, match, tournament, self.events.shown_since)
        if table is None:
            return None
        versions = self.snapshot.versions
        hosted = {name for name in match.entrants if name in versions and versions[name].folder}
        if reason := why_hidden(tournament.plan.game, match.entrants, hosted):
            return replace(table, no_probability=reason)
        probability = self.win_probabilities.of(table.position, tournament.plan)
        if probability is not None and not probability.by_seat:
            return replace(table, no_probability=CANNOT_REDEAL)
        return replace(table, probability=probability)

    def nudge(self) -> None:
        """Request a read of the store now, not at the next interval (1 s)."""
        self._nudge.set()

    async def read_store(self) -> None:
        """Read the store once. After a failure the previous snapshot stays."""
        try:
            seen = await run_in_threadpool(self._reader.read)
        except (SQLAlchemyError, StoreError, OSError) as error:
            log.warning("cannot read the store; the pages show the previous state: %s", error)
            self.is_readable = False
            return
        self.is_readable = True
        if seen is not None:
            self.snapshot = seen
            self.changes.record(ARENA)

    async def receive_events(self) -> None:
        """Receive the events of the arena forever; returns at once without a Redis."""
        if self.settings.redis:
            await self.events.run(
                self.settings.redis, [match.id for match in self.snapshot.running]
            )

    async def keep_snapshot(self) -> None:
        """Keep the snapshot up to date, forever."""
        while True:
            began = time.monotonic()
            await self.read_store()
            # Use at most a quarter of the time, because matches run on the same machine. The pause
            # is limited to 15 s.
            took = time.monotonic() - began
            await asyncio.sleep(
                min(max(_MIN_READ_PAUSE_SECONDS, 3 * took), _MAX_READ_PAUSE_SECONDS)
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(_READ_SECONDS):
                    await self._nudge.wait()
            self._nudge.clear()

    async def watch_submissions(self) -> None:
        """Record changes of submissions, forever."""
        seen = 0, 0.0
        while True:
            # `read_store` logs errors of the store.
            with suppress(SQLAlchemyError, StoreError, OSError):
                now = await run_in_threadpool(submissions.mark, self.engine)
                if now != seen:
                    seen = now
                    self.changes.record(SUBMISSIONS)
            await asyncio.sleep(_READ_SECONDS)
