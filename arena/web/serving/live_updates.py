"""Live updates of pages: changed parts as server-sent events to a limited number of clients.

All clients of one address share one rendering, so a thousand clients cost only a thousand writes.

A client names the parts that it shows by their digests: first those of its page, after a new
connection those of its last event. It receives the parts that differ.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from arena.web.data.changes import Changes

_QUIET_SECONDS = 15.0
"""Seconds without events after which a comment is sent, so that proxies keep the connection."""
_BYTES_A_SECOND = 50e6
"""Maximum data rate per address: large parts and many clients reduce the update rate."""
_MAX_UNREAD_EVENTS = 8
"""Number of unread events after which a client receives all parts instead."""


class StreamClients:
    """Counts connected clients and limits them in total; one address can have a quarter."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._here: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._here.total()

    @contextmanager
    def seat(self, client: str) -> Iterator[None]:
        """Count a client for the duration of the block; raises HTTPException 503 at the limit."""
        if len(self) >= self._most or self._here[client] >= max(self._most // 4, 1):
            raise HTTPException(
                503,
                "too many clients with live updates; the page itself is available.",
                {"Retry-After": "30"},
            )
        self._here[client] += 1
        try:
            yield
        finally:
            self._here[client] -= 1
            if not self._here[client]:
                del self._here[client]


class EventStreamResponse(StreamingResponse):
    """A stream of events to one client, counted among the `StreamClients`."""

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        audience: StreamClients,
        media_type: str,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        # Proxies must not buffer the events, and the server must not compress them.
        usual = {
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            "Content-Encoding": "identity",
        }
        super().__init__(chunks, media_type=media_type, headers={**usual, **headers})
        self._audience = audience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; raises HTTPException if the limit is reached."""
        with self._audience.seat(scope["state"]["client"]):
            if scope["method"] == "HEAD":
                await Response(headers=self.headers)(scope, receive, send)
            else:
                await super().__call__(scope, receive, send)


Parts = dict[str, str]
"""HTML by the ID of its element."""
Digests = frozenset[str]
"""Digests of the parts that a client shows."""
Draw = Callable[[], Awaitable[tuple[Parts, frozenset[str]]]]
"""Renders a page's live parts and returns them with the topics on which they depend."""


_Events = asyncio.Queue[bytes]


def digests_text(parts: Parts) -> str:
    """Return the digests of parts as a text for an address or the ID of an event."""
    return ".".join(_digest(name, html) for name, html in parts.items())


def read_digests(text: str) -> Digests:
    """Return the digests that `digests_text` has written."""
    return frozenset(text.split("."))


def _digest(name: str, html: str) -> str:
    return hashlib.blake2b(f"{name} {html}".encode(), digest_size=6).hexdigest()


class LiveUpdates:
    """The addresses with connected clients."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._watched: dict[str, _WatchedPage] = {}

    @property
    def watchers(self) -> int:
        """Number of connected clients."""
        return sum(len(watched.events) for watched in self._watched.values())

    async def events(
        self, address: str, draw: Draw, shown: Digests = frozenset(), pause: float = 0.5
    ) -> AsyncIterator[bytes]:
        """Yield the events of an address for one client, the first at once.

        Args:
            draw: renders its parts; its exceptions end the events.
            shown: the digests of the parts that the client shows; the first event omits these.
            pause: the minimum time between two renderings, in seconds.
        """
        watched = self._watched.get(address)
        if watched is None:
            watched = self._watched[address] = _WatchedPage(self._changes, draw, pause)
        events = watched.join(shown)
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

    def __init__(self, changes: Changes, draw: Draw, pause: float) -> None:
        self._changes = changes
        self._draw = draw
        self._pause = pause
        self._parts: Parts = {}
        self._topics: frozenset[str] = frozenset()
        self._number = 0
        """Number of the last change before the parts were rendered."""
        self.events: set[_Events] = set()
        """The clients."""
        self._waiting: dict[_Events, Digests] = {}
        """The clients without an event, with the parts that each of them shows."""
        self._drawing = asyncio.create_task(self._run())
        self._drawing.add_done_callback(self._end)

    def join(self, shown: Digests) -> _Events:
        """Add a client that shows these parts, and return its queue of events.

        Its page may be newer than outdated parts: it waits for the next rendering.
        """
        events = _Events(_MAX_UNREAD_EVENTS)
        if self._drawing.done():
            events.put_nowait(b"")
        elif self._parts and self._changes.newest(self._topics) <= self._number:
            events.put_nowait(self._first_event(shown))
        else:
            self._waiting[events] = shown
        self.events.add(events)
        return events

    def leave(self, events: _Events) -> None:
        """Remove a client. Without clients the rendering stops."""
        self.events.discard(events)
        self._waiting.pop(events, None)
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
            self._parts, self._topics, self._number = parts, topics, number
            waiting, self._waiting = self._waiting, {}
            for events, shown in waiting.items():
                self._send(events, self._first_event(shown))
            sent = 0
            if fresh and (others := self.events - waiting.keys()):
                event = self._event(fresh)
                sent = len(event) * len(others)
                for events in others:
                    self._send(events, event)
            await asyncio.sleep(max(self._pause, sent / _BYTES_A_SECOND))
            await self._changes.after(topics, number)

    def _send(self, events: _Events, event: bytes) -> None:
        if events.full():
            _clear(events)
            event = self._event(self._parts)
        events.put_nowait(event)

    def _first_event(self, shown: Digests) -> bytes:
        """Return the event with the parts that differ from the shown ones, possibly none."""
        parts = self._parts.items()
        return self._event({name: html for name, html in parts if _digest(name, html) not in shown})

    def _event(self, parts: Parts) -> bytes:
        """Return the event with these parts; its ID contains the digests of all parts."""
        update = {"at": round(time.time(), 3), "parts": parts}
        data = json.dumps(update, ensure_ascii=False)
        return f"event: parts\nid: {digests_text(self._parts)}\ndata: {data}\n\n".encode()


def _clear(events: _Events) -> None:
    with suppress(asyncio.QueueEmpty):
        while True:
            events.get_nowait()
