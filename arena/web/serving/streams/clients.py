"""Streamed responses, with a limit on the number of connected clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send


class StreamClients:
    """Counts connected clients and limits them in total; one address can have a quarter."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._here: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._here.total()

    @contextmanager
    def seat(self, client: str) -> Iterator[None]:
        """Count a client for the duration of the block.

        Raises:
            HTTPException: 503; the limit is reached.
        """
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
        self, news: AsyncIterator[bytes], audience: StreamClients, media_type: str
    ) -> None:
        # Proxies must not buffer the events, and the server must not compress them.
        headers = {
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            "Content-Encoding": "identity",
        }
        super().__init__(news, media_type=media_type, headers=headers)
        self._audience = audience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; raises HTTPException if the limit is reached."""
        with self._audience.seat(scope["state"]["client"]):
            if scope["method"] == "HEAD":
                await Response(headers=self.headers)(scope, receive, send)
            else:
                await super().__call__(scope, receive, send)
