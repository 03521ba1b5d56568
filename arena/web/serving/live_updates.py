"""Live pages: the parts that have changed, as server-sent events.

All who look at one address share one drawing of it, so a thousand watchers cost a thousand writes
and no more.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from arena.web.data.changes import Changes

Parts = dict[str, str]
"""HTML by the id of its element."""
Draw = Callable[[], Awaitable[tuple[Parts, frozenset[str]]]]
"""Draws a page anew: its parts that move, and the topics it depends on."""

_QUIET_SECONDS = 15.0
"""After so long without news a comment is sent, so that proxies keep the line."""
_PAUSE_SECONDS = 0.5
"""At least so long between two drawings of one address."""
_BYTES_A_SECOND = 50e6
"""So much is sent of one address at the most: the larger it is, and the more look, the rarer."""
_BEHIND = 8
"""Who has not read so many events gets everything at once instead."""

_Events = asyncio.Queue[bytes]


class Live:
    """The addresses that are looked at."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._watched: dict[str, _Watched] = {}

    @property
    def watchers(self) -> int:
        """How many look."""
        return sum(len(watched.events) for watched in self._watched.values())

    async def events(self, address: str, draw: Draw) -> AsyncIterator[bytes]:
        """The news of an address for one who looks at it, beginning with all its parts.

        draw: draws it; what it raises ends the events.
        """
        watched = self._watched.get(address)
        if watched is None:
            watched = self._watched[address] = _Watched(self._changes, draw)
        events = watched.join()
        try:
            while True:
                try:
                    async with asyncio.timeout(_QUIET_SECONDS):
                        event = await watched.next(events)
                except TimeoutError:
                    event = b": nothing new\n\n"
                yield event
        finally:
            watched.leave(events)
            if not watched.events and self._watched.get(address) is watched:
                del self._watched[address]


class _Watched:
    """An address with everybody who looks at it."""

    def __init__(self, changes: Changes, draw: Draw) -> None:
        self._changes = changes
        self._draw = draw
        self._parts: Parts = {}
        self.events: set[_Events] = set()
        self._drawing = asyncio.create_task(self._run())
        self._drawing.add_done_callback(self._end)

    def join(self) -> _Events:
        """One more looks: what it is to be sent."""
        events = _Events(_BEHIND)
        if self._drawing.done():
            events.put_nowait(b"")
        elif self._parts:
            events.put_nowait(_event(self._parts))
        self.events.add(events)
        return events

    def leave(self, events: _Events) -> None:
        """One has gone; with the last one the drawing ends."""
        self.events.discard(events)
        if not self.events:
            self._drawing.cancel()

    async def next(self, events: _Events) -> bytes:
        """The next event for one who looks; raises what ended the drawing, if it has ended."""
        event = await events.get()
        if not event:
            self._drawing.result()
        return event

    def _end(self, drawing: asyncio.Task[None]) -> None:
        """Nothing more will come: who waits is woken, to be told why."""
        if not drawing.cancelled():
            for events in self.events:
                _clear(events)
                events.put_nowait(b"")

    async def _run(self) -> None:
        while True:
            # Before drawing: what happens meanwhile may be in it, or not.
            number = self._changes.last
            parts, topics = await self._draw()
            fresh = {name: text for name, text in parts.items() if self._parts.get(name) != text}
            self._parts = parts
            sent = 0
            if fresh:
                event = _event(fresh)
                sent = len(event) * len(self.events)
                for events in self.events:
                    self._send(events, event)
            await asyncio.sleep(max(_PAUSE_SECONDS, sent / _BYTES_A_SECOND))
            await self._changes.after(topics, number)

    def _send(self, events: _Events, event: bytes) -> None:
        if events.full():
            _clear(events)
            event = _event(self._parts)
        events.put_nowait(event)


def _clear(events: _Events) -> None:
    with suppress(asyncio.QueueEmpty):
        while True:
            events.get_nowait()


def _event(parts: Parts) -> bytes:
    told = {"at": round(time.time(), 3), "parts": parts}
    return f"event: parts\ndata: {json.dumps(told, ensure_ascii=False)}\n\n".encode()
