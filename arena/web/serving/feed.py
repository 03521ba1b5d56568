"""The feed: events of the arena as messages for programs (docs/reference/feed.md)."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from arena.errors import NotFound, StoreError
from arena.ladders.ladder_rows import Ladder
from arena.ratings import closed_match as counted
from arena.ratings.closed_match import FAULTS
from arena.store import schema
from arena.store.database import reading
from arena.store.events import messages
from arena.store.events.messages import Event, MatchClosed, TournamentChanged
from arena.store.match_settings import ClockClass
from arena.store.matches import results
from arena.store.tournaments import tournaments
from arena.web.data.changes import ARENA
from arena.web.data.web_state import WebState
from referee.sanitizing import escaped_json

_CACHE_SIZE = 5000
QUIET_SECONDS = 15.0
"""Seconds without messages after which an empty one is sent; proxies then keep the connection."""
_MAX_UNREAD = 256
"""Maximum number of unread messages of a reader; beyond it the oldest are dropped."""
_MAX_WAITING_EVENTS = 10_000
"""Maximum number of events that wait for their details; further events are dropped."""
_TOP = 5


class EventDetails:
    """Adds public details to events: tournament, form, and the result of a closed match."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._matches: OrderedDict[str, dict[str, str]] = OrderedDict()

    def known(self, event: Event) -> dict[str, Any] | None:
        """Return the event with its details if that does not require a read; otherwise None."""
        if isinstance(event, MatchClosed | TournamentChanged):
            return None
        details = self._matches.get(event.match)
        return None if details is None else {**asdict(event), **details}

    def read(self, event: Event) -> dict[str, Any]:
        """Return the event with its details from the store.

        Details that cannot be read are omitted.
        """
        try:
            if isinstance(event, TournamentChanged):
                return {"tournament": event.id, "state": event.state, **self._ladder(event.id)}
            details = self._match(event.match)
            ended = self._result(event.match) if isinstance(event, MatchClosed) else {}
            return {**asdict(event), **details, **ended}
        except (SQLAlchemyError, StoreError, LookupError):
            return asdict(event)

    def _match(self, match: str) -> dict[str, str]:
        if match not in self._matches:
            query = select(schema.matches.c.tournament).where(schema.matches.c.id == match)
            with reading(self._engine) as connection:
                tournament = connection.execute(query).scalar_one()
            self._matches[match] = {"tournament": tournament, **self._ladder(tournament)}
            if len(self._matches) > _CACHE_SIZE:
                self._matches.popitem(last=False)
        return self._matches[match]

    def _ladder(self, tournament: str) -> dict[str, str]:
        plan = tournaments.find_tournament(self._engine, tournament).plan
        return {"form": plan.form, "ladder": plan.ladder}

    def _result(self, match: str) -> dict[str, Any]:
        """Return the result of a closed match; empty if the match is not closed."""
        try:
            closed = results.of_match(self._engine, match)
        except NotFound:
            return {}
        faults = [
            sum(game.verdicts[at] in FAULTS for game in closed.games)
            for at in range(len(closed.entrants))
        ]
        return {
            "entrants": closed.entrants,
            "scores": [round(mean, 4) for mean in counted.means(counted.pairwise(closed))],
            "games": closed.played,
            "faults": faults,
        }


@dataclass(frozen=True, slots=True)
class FeedFilter:
    """Selects messages; unset fields match all messages."""

    match: str | None = None
    tournament: str | None = None
    form: str | None = None

    def matches(self, details: Mapping[str, Any]) -> bool:
        """Whether a message matches the filter."""
        ladder = details.get("ladder")
        return (
            self.match in (None, details.get("match"))
            and self.tournament in (None, details.get("tournament"))
            and self.form in (None, details.get("form"), ladder, f"{ladder}~{ClockClass.FAST}")
        )


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """A message, serialized once for all readers."""

    values: Mapping[str, Any]
    line: bytes

    @property
    def event(self) -> bytes:
        """The message as a server-sent event."""
        return b"event: %s\ndata: %s\n" % (str(self.values["type"]).encode(), self.line)


def message(details: Mapping[str, Any], at: float) -> FeedMessage:
    """Return a message with a time stamp in seconds since 1970."""
    stamped = {"type": details["type"], "at": round(at, 3), **details}
    text = escaped_json(json.dumps(stamped, ensure_ascii=False, separators=(",", ":")))
    return FeedMessage(stamped, text.encode() + b"\n")


class FeedReader:
    """One reader of the feed with its queue of unread messages."""

    def __init__(self, selection: FeedFilter) -> None:
        self.selection = selection
        self._messages: asyncio.Queue[FeedMessage] = asyncio.Queue(_MAX_UNREAD)
        self._missed = 0

    def give(self, item: FeedMessage) -> None:
        """Queue a message; drop the oldest one if the queue is full."""
        if self._messages.full():
            self._messages.get_nowait()
            self._missed += 1
        self._messages.put_nowait(item)

    async def next(self) -> FeedMessage:
        """Return the next message, or the number of dropped messages."""
        if self._missed:
            note = {"type": "missed", "messages": self._missed}
            self._missed = 0
            return message(note, time.time())
        return await self._messages.get()


class Feed:
    """Sends events to all readers. Use it from the event loop's thread only."""

    def __init__(self, web: WebState) -> None:
        self._web = web
        self._details = EventDetails(web.engine)
        self._readers: set[FeedReader] = set()
        self._waiting: asyncio.Queue[Event] = asyncio.Queue(_MAX_WAITING_EVENTS)
        self._ladders: Mapping[str, Ladder] = {}

    async def run(self) -> None:
        """Send events forever."""
        self._web.events.add_listener(self._queue_event)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send_events())
                group.create_task(self._send_ladders())
        finally:
            self._web.events.remove_listener(self._queue_event)

    async def read(self, selection: FeedFilter, *, events: bool) -> AsyncIterator[bytes]:
        """Yield the messages from now on, the first of type "hello".

        Args:
            events: True: server-sent events; False: lines of JSON.
        """
        reader = FeedReader(selection)
        settings = self._web.settings
        spectators = {"spectators": settings.spectators, "delay": settings.delay}
        reader.give(message({"type": "hello", **spectators}, time.time()))
        self._readers.add(reader)
        try:
            while True:
                try:
                    async with asyncio.timeout(QUIET_SECONDS):
                        item = await reader.next()
                except TimeoutError:
                    yield b": nothing new\n\n" if events else b"\n"
                else:
                    yield item.event if events else item.line
        finally:
            self._readers.discard(reader)

    def _queue_event(self, event: Event) -> None:
        if self._readers and not self._waiting.full():
            self._waiting.put_nowait(event)

    async def _send_events(self) -> None:
        while True:
            event = await self._waiting.get()
            # A thread is used only for unknown details, one event at a time, to preserve the order.
            details = self._details.known(event)
            if details is None:
                details = await run_in_threadpool(self._details.read, event)
            self._send({"type": messages.name_of(event), **details})

    async def _send_ladders(self) -> None:
        number = self._web.changes.last
        self._ladders = self._web.snapshot.ladders
        while True:
            await self._web.changes.after({ARENA}, number)
            number = self._web.changes.last
            before, self._ladders = self._ladders, self._web.snapshot.ladders
            for form, ladder in self._ladders.items():
                if ladder is not before.get(form):
                    self._send(_of_ladder(form, ladder))

    def _send(self, details: Mapping[str, Any]) -> None:
        item = message(details, time.time())
        for reader in self._readers:
            if reader.selection.matches(item.values):
                reader.give(item)


def _of_ladder(form: str, ladder: Ladder) -> dict[str, Any]:
    lines = ladder.table.ranked
    top = [
        {"bot": line.entrant, "strength": round(line.strength.value, 1)} for _, line in lines[:_TOP]
    ]
    return {
        "type": "ladder",
        "form": ladder.scope.form,
        "ladder": form,
        "bots": len(lines),
        "top": top,
    }
