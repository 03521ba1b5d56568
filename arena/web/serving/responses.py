"""HTTP responses for pages: rendered, cached, compressed, and as live updates."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from urllib.parse import urlencode

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from arena.web.address import Address
from arena.web.data.state import Web
from arena.web.page import Ask, Links, Page
from arena.web.serving import error_pages, rendering
from arena.web.serving.content_types import KINDS
from arena.web.serving.feed import Feed, Filter
from arena.web.serving.live_updates import Live, Parts
from arena.web.serving.owner_token import token_of
from arena.web.serving.response_cache import Answer, Answers

# Long-lived responses: their clients and the limit of their number.


class Listeners:
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
    """A stream of events to one client, counted among the `Listeners`."""

    def __init__(self, news: AsyncIterator[bytes], audience: Listeners, media_type: str) -> None:
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


LIVE = "/live"
"""Prefix of a page's path for its live updates."""
FEED = "/feed"
EVENTS, LINES = "text/event-stream", "application/x-ndjson"
_DRAWN_AT_ONCE = 4
"""Maximum number of rendering threads; more would only compete. Further requests wait in order."""

Endpoint = Callable[[Request], Awaitable[Response]]


class Serving:
    """Creates the endpoints of pages."""

    def __init__(self, web: Web, links: Links) -> None:
        self._web = web
        self._links = links
        self._live = Live(web.changes)
        self._answers = Answers(web.changes)
        self._audience = Listeners(web.settings.watchers)
        self._threads = anyio.CapacityLimiter(_DRAWN_AT_ONCE)

    def page(self, address: Address) -> Endpoint:
        """Return the endpoint that responds with the page."""

        async def answer(request: Request) -> Response:
            path, kind = request.scope["path"], request.state.kind
            ask = self._ask(request, address)
            token = await token_of(request) if address.owners else ""
            if token:
                # A response for an owner is neither stored nor shared.
                personal = replace(ask, token=token)
                return _response(request, await self._write(address, personal, path, kind))
            return _response(request, await self._answer(address, ask, path, kind))

        return self.failing(answer)

    async def _answer(self, address: Address, ask: Ask, path: str, kind: str) -> Answer:
        async def in_thread() -> Answer:
            return await self._write(address, ask, path, kind)

        key = (path, kind, urlencode(sorted(ask.query.items())))
        return await self._answers.get(key, in_thread)

    async def _write(self, address: Address, ask: Ask, path: str, kind: str) -> Answer:
        def write() -> Answer:
            return _written(address.draw(self._web, ask), ask, path, kind)

        return await anyio.to_thread.run_sync(write, limiter=self._threads)

    def news(self, address: Address) -> Endpoint:
        """Return the endpoint that streams the changed live parts of the page."""

        async def stream(request: Request) -> Response:
            ask = self._ask(request, address)

            def draw() -> tuple[Parts, frozenset[str]]:
                page = address.draw(self._web, ask)
                return rendering.fragments(page, self._links), page.topics

            async def parts() -> tuple[Parts, frozenset[str]]:
                return await anyio.to_thread.run_sync(draw, limiter=self._threads)

            # Render the page first, so that errors produce a response with their status.
            path = request.scope["path"]
            await self._answer(address, ask, path.removeprefix(LIVE), "html")
            name = _address(path, ask)
            return Stream(self._live.events(name, parts), self._audience, EVENTS)

        return self.failing(stream)

    def feed(self, feed: Feed) -> Endpoint:
        """Return the endpoint of the feed: server-sent events if accepted, else lines of JSON."""

        async def stream(request: Request) -> Response:
            query = request.query_params
            selection = Filter(
                *(query.get(name) or None for name in ("match", "tournament", "form"))
            )
            events = EVENTS in request.headers.get("accept", "")
            return Stream(
                feed.read(selection, events=events), self._audience, EVENTS if events else LINES
            )

        return self.failing(stream)

    def failing(self, endpoint: Endpoint) -> Endpoint:
        """Wrap an endpoint to convert its exceptions to error responses."""

        @wraps(endpoint)
        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except Exception as error:
                return error_pages.response(request, error, self._links)

        return answer

    def _ask(self, request: Request, address: Address) -> Ask:
        """Return the parsed request. Undeclared query parameters are ignored."""
        if not self._web.sight.at:
            raise HTTPException(
                503,
                "the arena has not been read yet; please ask again in a moment.",
                {"Retry-After": "5"},
            )
        known = {name for name, _ in address.query}
        query = {name: text for name, text in request.query_params.items() if name in known}
        return Ask(dict(request.path_params), query, self._links)


def _address(path: str, ask: Ask) -> str:
    return path + (f"?{urlencode(ask.query)}" if ask.query else "")


def _written(page: Page, ask: Ask, path: str, kind: str) -> Answer:
    """Return a page in the requested kind."""
    if kind not in rendering.offered(page):
        raise HTTPException(
            406,
            f"this page is not to be had as {kind}; it is as {', '.join(rendering.offered(page))}.",
        )
    text = _text(page, ask, path, kind)
    return Answer(text.encode(), page.status, KINDS[kind], page.headers, page.topics, page.fresh)


def _text(page: Page, ask: Ask, path: str, kind: str) -> str:
    if kind != "html":
        return rendering.written(page, kind)
    live = f"{LIVE}{_address(path, ask)}" if page.parts and not page.still else ""
    return rendering.html(page, ask.links, live=live, path=path)


def _response(request: Request, answer: Answer) -> Response:
    """Return the response; 304 without a body if the client already has it."""
    headers = {
        "ETag": answer.tag,
        "Cache-Control": "no-cache",
        "Vary": "Accept, Accept-Encoding",
        **answer.headers,
    }
    if answer.status == 200 and answer.is_had(request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    body = answer.body
    if "gzip" in request.headers.get("accept-encoding", "") and answer.compressed is not None:
        body = answer.compressed
        headers["Content-Encoding"] = "gzip"
    if request.method == "HEAD":
        headers["Content-Length"] = str(len(body))
        body = b""
    return Response(body, answer.status, headers, media_type=answer.media_type)
