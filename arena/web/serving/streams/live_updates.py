"""Live updates of pages: changed parts as server-sent events.

All clients of one address share one rendering, so a thousand clients cost only a thousand writes.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from arena.web.data.changes import Changes

Parts = dict[str, str]
"""HTML by the ID of its element."""
Draw = Callable[[], Awaitable[tuple[Parts, frozenset[str]]]]
"""Renders a page's live parts and returns them with the topics on which they depend."""

_QUIET_SECONDS = 15.0
"""Seconds without events after which a comment is sent, so that proxies keep the connection."""
_PAUSE_SECONDS = 0.5
"""Minimum time between two renderings of one address, in seconds."""
_BYTES_A_SECOND = 50e6
"""Maximum data rate per address: large parts and many clients reduce the update rate."""
_BEHIND = 8
"""Number of unread events after which a client receives all parts instead."""

_Events = asyncio.Queue[bytes]


class LiveUpdates:
    """The addresses with connected clients."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._watched: dict[str, _WatchedPage] = {}

    @property
    def watchers(self) -> int:
        """Number of connected clients."""
        return sum(len(watched.events) for watched in self._watched.values())

    async def events(self, address: str, draw: Draw) -> AsyncIterator[bytes]:
        """Yield the events of an address for one client, the first with all parts.

        Args:
            address: the address.
            draw: renders its parts; its exceptions end the events.
        """
        watched = self._watched.get(address)
        if watched is None:
            watched = self._watched[address] = _WatchedPage(self._changes, draw)
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


class _WatchedPage:
    """An address with its connected clients."""

    def __init__(self, changes: Changes, draw: Draw) -> None:
        self._changes = changes
        self._draw = draw
        self._parts: Parts = {}
        self.events: set[_Events] = set()
        self._drawing = asyncio.create_task(self._run())
        self._drawing.add_done_callback(self._end)

    def join(self) -> _Events:
        """Add a client and return its queue of events."""
        events = _Events(_BEHIND)
        if self._drawing.done():
            events.put_nowait(b"")
        elif self._parts:
            events.put_nowait(_event(self._parts))
        self.events.add(events)
        return events

    def leave(self, events: _Events) -> None:
        """Remove a client. Without clients the rendering stops."""
        self.events.discard(events)
        if not self.events:
            self._drawing.cancel()

    async def next(self, events: _Events) -> bytes:
        """Return a client's next event; raises the exception that ended the rendering, if any."""
        event = await events.get()
        if not event:
            self._drawing.result()
        return event

    def _end(self, drawing: asyncio.Task[None]) -> None:
        """Wake the waiting clients after the rendering has failed."""
        if not drawing.cancelled():
            for events in self.events:
                _clear(events)
                events.put_nowait(b"")

    async def _run(self) -> None:
        while True:
            # Read the number before the rendering, which may or may not include later changes.
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
    update = {"at": round(time.time(), 3), "parts": parts}
    return f"event: parts\ndata: {json.dumps(update, ensure_ascii=False)}\n\n".encode()
