"""Those who are told the news as they happen: how many there are, and what they are sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send


class Audience:
    """Who is being told the news: so many at the most, and of one address a quarter of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._here: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._here.total()

    @contextmanager
    def seat(self, client: str) -> Iterator[None]:
        """A place as long as somebody listens.

        Raises HTTPException: there is none, said in a sentence.
        """
        if len(self) >= self._most or self._here[client] >= max(self._most // 4, 1):
            raise HTTPException(
                503,
                "as many are watching as can be told the news; the pages themselves can be read.",
                {"Retry-After": "30"},
            )
        self._here[client] += 1
        try:
            yield
        finally:
            self._here[client] -= 1
            if not self._here[client]:
                del self._here[client]


class Stream(StreamingResponse):
    """News for one of an audience, as long as there are any and they are read."""

    def __init__(self, news: AsyncIterator[bytes], audience: Audience, media_type: str) -> None:
        # No proxy and no compression of ours may hold back what is news.
        headers = {
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            "Content-Encoding": "identity",
        }
        super().__init__(news, media_type=media_type, headers=headers)
        self._audience = audience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it; raises HTTPException if there is no seat."""
        with self._audience.seat(scope["state"]["client"]):
            if scope["method"] == "HEAD":
                await Response(headers=self.headers)(scope, receive, send)
            else:
                await super().__call__(scope, receive, send)
