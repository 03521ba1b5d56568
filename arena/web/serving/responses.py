"""HTTP responses for pages: rendered, cached, compressed, and as live updates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from urllib.parse import urlencode

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from arena.web.data.web_state import WebState
from arena.web.page import Links, Page, PageRequest
from arena.web.page_route import PageRoute
from arena.web.serving import error_pages, rendering
from arena.web.serving.content_types import KINDS
from arena.web.serving.owner_token import token_of
from arena.web.serving.response_cache import CachedResponse, ResponseCache
from arena.web.serving.streams.clients import EventStreamResponse, StreamClients
from arena.web.serving.streams.feed import Feed, FeedFilter
from arena.web.serving.streams.live_updates import LiveUpdates, Parts

LIVE = "/live"
"""Prefix of a page's path for its live updates."""
FEED = "/feed"
EVENTS, LINES = "text/event-stream", "application/x-ndjson"
_DRAWN_AT_ONCE = 4
"""Maximum number of rendering threads; more would only compete. Further requests wait in order."""

Endpoint = Callable[[Request], Awaitable[Response]]


class PageEndpoints:
    """Creates the endpoints of pages."""

    def __init__(self, web: WebState, links: Links) -> None:
        self._web = web
        self._links = links
        self._live = LiveUpdates(web.changes)
        self._answers = ResponseCache(web.changes)
        self._audience = StreamClients(web.settings.watchers)
        self._threads = anyio.CapacityLimiter(_DRAWN_AT_ONCE)

    def page(self, address: PageRoute) -> Endpoint:
        """Return the endpoint that responds with the page."""

        async def answer(request: Request) -> Response:
            path, kind = request.scope["path"], request.state.kind
            page_request = self._ask(request, address)
            token = await token_of(request) if address.owners else ""
            if token:
                # A response for an owner is neither stored nor shared.
                personal = replace(page_request, token=token)
                return _response(request, await self._write(address, personal, path, kind))
            return _response(request, await self._answer(address, page_request, path, kind))

        return self.failing(answer)

    async def _answer(
        self, address: PageRoute, page_request: PageRequest, path: str, kind: str
    ) -> CachedResponse:
        async def in_thread() -> CachedResponse:
            return await self._write(address, page_request, path, kind)

        key = (path, kind, urlencode(sorted(page_request.query.items())))
        return await self._answers.get(key, in_thread)

    async def _write(
        self, address: PageRoute, page_request: PageRequest, path: str, kind: str
    ) -> CachedResponse:
        def write() -> CachedResponse:
            return _written(address.draw(self._web, page_request), page_request, path, kind)

        return await anyio.to_thread.run_sync(write, limiter=self._threads)

    def news(self, address: PageRoute) -> Endpoint:
        """Return the endpoint that streams the changed live parts of the page."""

        async def stream(request: Request) -> Response:
            page_request = self._ask(request, address)

            def draw() -> tuple[Parts, frozenset[str]]:
                page = address.draw(self._web, page_request)
                return rendering.fragments(page, self._links), page.topics

            async def parts() -> tuple[Parts, frozenset[str]]:
                return await anyio.to_thread.run_sync(draw, limiter=self._threads)

            # Render the page first, so that errors produce a response with their status.
            path = request.scope["path"]
            await self._answer(address, page_request, path.removeprefix(LIVE), "html")
            name = _address(path, page_request)
            return EventStreamResponse(self._live.events(name, parts), self._audience, EVENTS)

        return self.failing(stream)

    def feed(self, feed: Feed) -> Endpoint:
        """Return the endpoint of the feed: server-sent events if accepted, else lines of JSON."""

        async def stream(request: Request) -> Response:
            query = request.query_params
            selection = FeedFilter(
                *(query.get(name) or None for name in ("match", "tournament", "form"))
            )
            events = EVENTS in request.headers.get("accept", "")
            return EventStreamResponse(
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

    def _ask(self, request: Request, address: PageRoute) -> PageRequest:
        """Return the parsed request. Undeclared query parameters are ignored."""
        if not self._web.snapshot.at:
            raise HTTPException(
                503,
                "the server is starting; retry in 5 s.",
                {"Retry-After": "5"},
            )
        known = {name for name, _ in address.query}
        query = {name: text for name, text in request.query_params.items() if name in known}
        return PageRequest(dict(request.path_params), query, self._links)


def _address(path: str, page_request: PageRequest) -> str:
    return path + (f"?{urlencode(page_request.query)}" if page_request.query else "")


def _written(page: Page, page_request: PageRequest, path: str, kind: str) -> CachedResponse:
    """Return a page in the requested kind."""
    if kind not in rendering.offered(page):
        raise HTTPException(
            406,
            f"Not available as {kind.upper()}. Available formats: "
            f"{', '.join(rendering.offered(page)).upper()}.",
        )
    text = _text(page, page_request, path, kind)
    return CachedResponse(
        text.encode(), page.status, KINDS[kind], page.headers, page.topics, page.fresh
    )


def _text(page: Page, page_request: PageRequest, path: str, kind: str) -> str:
    if kind != "html":
        return rendering.written(page, kind)
    live = f"{LIVE}{_address(path, page_request)}" if page.parts and not page.still else ""
    return rendering.html(page, page_request.links, live=live, path=path)


def _response(request: Request, answer: CachedResponse) -> Response:
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
