"""The feed: what happens in the arena, as messages for programs (docs/feed.md)."""

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

from arena.errors import StoreError
from arena.events import messages
from arena.events.messages import MatchClosed, News, TournamentChanged
from arena.ratings import closed_match as counted
from arena.ratings.closed_match import FAULTS, ClosedMatch
from arena.store import schema
from arena.store.database import reading
from arena.store.matches.outcome import games_of
from arena.store.tournaments import tournaments
from arena.web.data.changes import ARENA
from arena.web.data.snapshot import Ladder
from arena.web.data.state import Web
from referee.sanitizing import escaped_json

# What the store says of the matches that news are about.


_KEPT = 5000


class EventDetails:
    """News with what else is public of them: the tournament, the form, the result at the end."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._matches: OrderedDict[str, dict[str, str]] = OrderedDict()

    def known(self, heard: News) -> dict[str, Any] | None:
        """What is to be told, if nothing has to be read for it."""
        if isinstance(heard, MatchClosed | TournamentChanged):
            return None
        found = self._matches.get(heard.match)
        return None if found is None else {**asdict(heard), **found}

    def read(self, heard: News) -> dict[str, Any]:
        """The same, read from the store. What cannot be read is left out."""
        try:
            if isinstance(heard, TournamentChanged):
                told = {"tournament": heard.id, "state": heard.state}
                return {**told, "form": tournaments.find(self._engine, heard.id).plan.form}
            found = self._match(heard.match)
            ended = self._result(heard.match) if isinstance(heard, MatchClosed) else {}
            return {**asdict(heard), **found, **ended}
        except (SQLAlchemyError, StoreError, LookupError):
            return asdict(heard)

    def _match(self, match: str) -> dict[str, str]:
        if match not in self._matches:
            query = select(schema.matches.c.tournament).where(schema.matches.c.id == match)
            with reading(self._engine) as connection:
                tournament = connection.execute(query).scalar_one()
            form = tournaments.find(self._engine, tournament).plan.form
            self._matches[match] = {"tournament": tournament, "form": form}
            if len(self._matches) > _KEPT:
                self._matches.popitem(last=False)
        return self._matches[match]

    def _result(self, match: str) -> dict[str, Any]:
        """Of a match that has closed: there is no result before."""
        results = schema.results
        query = select(results.c.outcome).where(results.c.match == match)
        with reading(self._engine) as connection:
            outcome = connection.execute(query).scalar_one_or_none()
        if outcome is None:
            return {}
        closed = ClosedMatch(match, 0, 0, tuple(outcome["entrants"]), games_of(outcome))
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


QUIET_SECONDS = 15.0
"""After so long without news something empty is sent, so that proxies keep the line."""
_BEHIND = 256
"""Who has not read so many messages misses the oldest."""
_WAITING = 10_000
"""So much news waits at the most for what else is to be said of it."""
_TOP = 5


@dataclass(frozen=True, slots=True)
class Filter:
    """What somebody wants to hear of; None: of all."""

    match: str | None = None
    tournament: str | None = None
    form: str | None = None

    def lets(self, told: Mapping[str, Any]) -> bool:
        """Whether a message is about that."""
        return all(
            wanted is None or told.get(name) == wanted
            for name, wanted in (
                ("match", self.match),
                ("tournament", self.tournament),
                ("form", self.form),
            )
        )


@dataclass(frozen=True, slots=True)
class Message:
    """A message, written once for all who hear it."""

    told: Mapping[str, Any]
    line: bytes

    @property
    def event(self) -> bytes:
        """The same as a server-sent event."""
        return b"event: %s\ndata: %s\n" % (str(self.told["type"]).encode(), self.line)


def message(told: Mapping[str, Any], at: float) -> Message:
    """A message that is told at this time, in seconds since 1970."""
    stamped = {"type": told["type"], "at": round(at, 3), **told}
    text = escaped_json(json.dumps(stamped, ensure_ascii=False, separators=(",", ":")))
    return Message(stamped, text.encode() + b"\n")


class Reader:
    """One who hears the feed: what is kept for it until it has read it."""

    def __init__(self, wanted: Filter) -> None:
        self.wanted = wanted
        self._messages: asyncio.Queue[Message] = asyncio.Queue(_BEHIND)
        self._missed = 0

    def give(self, one: Message) -> None:
        """Keeps a message; the oldest goes if there are too many."""
        if self._messages.full():
            self._messages.get_nowait()
            self._missed += 1
        self._messages.put_nowait(one)

    async def next(self) -> Message:
        """The next message, or how many could not be kept."""
        if self._missed:
            told = {"type": "missed", "messages": self._missed}
            self._missed = 0
            return message(told, time.time())
        return await self._messages.get()


class Feed:
    """Tells all readers what happens. For the one thread of the event loop."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._facts = EventDetails(web.engine)
        self._readers: set[Reader] = set()
        self._waiting: asyncio.Queue[News] = asyncio.Queue(_WAITING)
        self._ladders: Mapping[str, Ladder] = {}

    async def run(self) -> None:
        """Tells what happens, for ever."""
        self._web.newsroom.join(self._hear)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._tell_news())
                group.create_task(self._tell_ladders())
        finally:
            self._web.newsroom.leave(self._hear)

    async def read(self, wanted: Filter, *, events: bool) -> AsyncIterator[bytes]:
        """What happens from now on, beginning with a greeting.

        events: as server-sent events; else as lines of JSON.
        """
        reader = Reader(wanted)
        settings = self._web.settings
        spectators = {"spectators": settings.spectators, "delay": settings.delay}
        reader.give(message({"type": "hello", **spectators}, time.time()))
        self._readers.add(reader)
        try:
            while True:
                try:
                    async with asyncio.timeout(QUIET_SECONDS):
                        one = await reader.next()
                except TimeoutError:
                    yield b": nothing new\n\n" if events else b"\n"
                else:
                    yield one.event if events else one.line
        finally:
            self._readers.discard(reader)

    def _hear(self, heard: News) -> None:
        if self._readers and not self._waiting.full():
            self._waiting.put_nowait(heard)

    async def _tell_news(self) -> None:
        while True:
            heard = await self._waiting.get()
            # A thread only for what is not known yet, so that all come in their order.
            told = self._facts.known(heard)
            if told is None:
                told = await run_in_threadpool(self._facts.read, heard)
            self._send({"type": messages.name_of(heard), **told})

    async def _tell_ladders(self) -> None:
        number = self._web.changes.last
        self._ladders = self._web.sight.ladders
        while True:
            await self._web.changes.after({ARENA}, number)
            number = self._web.changes.last
            before, self._ladders = self._ladders, self._web.sight.ladders
            for form, ladder in self._ladders.items():
                if ladder is not before.get(form):
                    self._send(_of_ladder(form, ladder))

    def _send(self, told: Mapping[str, Any]) -> None:
        one = message(told, time.time())
        for reader in self._readers:
            if reader.wanted.lets(one.told):
                reader.give(one)


def _of_ladder(form: str, ladder: Ladder) -> dict[str, Any]:
    lines = ladder.table.lines
    top = [
        {"bot": line.entrant, "strength": round(line.strength.value, 1)} for line in lines[:_TOP]
    ]
    return {"type": "ladder", "form": form, "bots": len(lines), "top": top}
