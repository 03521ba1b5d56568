"""HTTP responses for pages: rendered, cached, compressed, and as live updates."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate, parsedate_to_datetime
from functools import cached_property, wraps
from urllib.parse import urlencode

import anyio
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from arena.errors import StoreError
from arena.presentation.csv_text import BYTE_ORDER_MARK
from arena.store.access.sessions import Identity
from arena.web.data.changes import Changes
from arena.web.data.web_state import WebState
from arena.web.management import access as accesses
from arena.web.page import Page, PageRequest, PageRoute, ladder_in_query
from arena.web.serving import data_formats, error_responses, html_pages, page_kinds
from arena.web.serving.feed import Feed, FeedFilter
from arena.web.serving.live_updates import (
    EventStreamResponse,
    LiveUpdates,
    Parts,
    StreamClients,
    digests_text,
    read_digests,
)
from arena.web.serving.page_kinds import KINDS
from arena.web.serving.root_path import links_of
from arena.web.serving.security import EMBED, PERSONAL, bearer_of

Endpoint = Callable[[Request], Awaitable[Response]]
CacheKey = tuple[str, ...]
"""Values that determine a response, such as address of the home page, path, kind and query."""
KEPT_BYTES = 64 * 2**20
"""Size limit of the cache; the least recently used responses are removed first."""
_MAX_CACHED_BYTES = 8 * 2**20
"""Larger responses are not stored."""
_MIN_COMPRESSED_BYTES = 1000
"""Smaller responses are not compressed."""
_GZIP_LEVEL = 9
"""A replay becomes 11 % smaller than at level 5 and takes 3 to 6 ms more, once per change."""
LIVE = "/live"
"""Prefix of a page's path for its live updates."""
SHOWN_DIGESTS = "shown"
"""Query parameter of live updates: the digests of the parts that the client shows."""
FEED = "/feed"
EVENTS, LINES = "text/event-stream", "application/x-ndjson"
_RENDERING_THREADS = 4
"""Maximum number of rendering threads; more would only compete. Further requests wait in order."""


@dataclass(frozen=True)
class CachedResponse:
    """A response.

    Args:
        body: the uncompressed body.
        topics: the topics on which it depends.
        fresh: seconds for which it is valid without a change, because it may contain relative
            times.
    """

    body: bytes
    status: int
    media_type: str
    headers: Mapping[str, str]
    topics: frozenset[str]
    fresh: float

    @cached_property
    def tag(self) -> str:
        """ETag of the body. It is weak because it also stands for the compressed body."""
        return f'W/"{hashlib.blake2b(self.body, digest_size=12).hexdigest()}"'

    @cached_property
    def compressed(self) -> bytes | None:
        """The body compressed with gzip; None if it is too small."""
        if len(self.body) < _MIN_COMPRESSED_BYTES:
            return None
        return gzip.compress(self.body, _GZIP_LEVEL, mtime=0)

    def has_tag_in(self, tags: str) -> bool:
        """Whether the tag is in an If-None-Match header."""
        own_tag = self.tag.removeprefix("W/")
        return any(each.strip().removeprefix("W/") in ("*", own_tag) for each in tags.split(","))

    def __len__(self) -> int:
        return len(self.body)


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    """A stored response.

    Args:
        change: number of the last change before the rendering.
        began: when the rendering began, on the monotonic clock.
    """

    answer: CachedResponse
    change: int
    began: float


class ResponseCache:
    """Serialized responses, valid until a topic on which they depend changes.

    A popular page is rendered, serialized and compressed once per change instead of once per
    request. Simultaneous requests wait for the same rendering. Use the cache from the event loop's
    thread only.
    """

    def __init__(self, changes: Changes, most: int = KEPT_BYTES) -> None:
        self._changes = changes
        self._most = most
        self._bytes = 0
        self._entries: OrderedDict[CacheKey, _CacheEntry] = OrderedDict()
        self._renderings: dict[CacheKey, asyncio.Task[CachedResponse]] = {}

    async def get(
        self, key: CacheKey, render: Callable[[], Awaitable[CachedResponse]]
    ) -> CachedResponse:
        """Return the stored response, or render it if it is missing or outdated.

        Exceptions of `render` are raised for all waiting requests and are not stored.
        """
        entry = self._entries.get(key)
        if entry is not None and self._is_current(entry):
            self._entries.move_to_end(key)
            return entry.answer
        rendering = self._renderings.get(key)
        if rendering is None:
            rendering = self._renderings[key] = asyncio.create_task(self._render(key, render))
            # If all waiting requests were cancelled, this prevents a warning about the exception.
            rendering.add_done_callback(lambda task: task.cancelled() or task.exception())
        # A cancelled request must not cancel the rendering for the others.
        return await asyncio.shield(rendering)

    def _is_current(self, entry: _CacheEntry) -> bool:
        changed = self._changes.newest(entry.answer.topics)
        age = time.monotonic() - entry.began
        return changed <= entry.change and age < entry.answer.fresh

    async def _render(
        self, key: CacheKey, render: Callable[[], Awaitable[CachedResponse]]
    ) -> CachedResponse:
        try:
            # Read the number before the rendering, which may or may not include later changes.
            change, began = self._changes.last, time.monotonic()
            answer = await render()
            self._store(key, _CacheEntry(answer, change, began))
            return answer
        finally:
            del self._renderings[key]

    def _store(self, key: CacheKey, entry: _CacheEntry) -> None:
        old = self._entries.pop(key, None)
        self._bytes -= len(old.answer) if old else 0
        if len(entry.answer) > _MAX_CACHED_BYTES or entry.answer.fresh <= 0:
            return
        self._entries[key] = entry
        self._bytes += len(entry.answer)
        while self._bytes > self._most:
            _, evicted = self._entries.popitem(last=False)
            self._bytes -= len(evicted.answer)


class PageEndpoints:
    """Creates the endpoints of pages."""

    def __init__(self, web: WebState) -> None:
        self._web = web
        self._live = LiveUpdates(web.changes)
        self._cache = ResponseCache(web.changes)
        self._stream_clients = StreamClients(web.settings.watchers)
        self._threads = anyio.CapacityLimiter(_RENDERING_THREADS)

    def page(self, route: PageRoute) -> Endpoint:
        """Return the endpoint that responds with the page."""

        async def answer(request: Request) -> Response:
            path, kind = request.scope["path"], _kind(request, route)
            page_request = self._page_request(request, route)
            token = (bearer_of(request) or "") if route.owners else ""
            viewer = await self._viewer(request, kind)
            if token or viewer:
                # A response for one person is neither stored nor shared.
                personal = replace(page_request, token=token, viewer=viewer)
                response = await self._render_in_thread(route, personal, path, kind)
                headers = {**response.headers, **PERSONAL}
                return _response(request, replace(response, headers=headers))
            response = await self._cached_response(route, page_request, path, kind)
            if kind == "csv" and "text/html" in request.headers.get("accept", ""):
                # A browser saves the file for a spreadsheet; programs do not accept HTML.
                response = replace(response, body=BYTE_ORDER_MARK.encode() + response.body)
            return _response(request, response)

        return self.failing(answer)

    async def error(self, request: Request, error: Exception) -> Response:
        """Return the response for a failed request, with the header of the session."""
        viewer = None
        with contextlib.suppress(SQLAlchemyError, StoreError):
            viewer = await self._viewer(request, getattr(request.state, "error_kind", "json"))
        return error_responses.response(request, error, viewer)

    async def _viewer(self, request: Request, kind: str) -> Identity | None:
        """Return who is signed in; None for programs, and for pages that other sites may show."""
        if kind != "html" or request.scope["path"].startswith(EMBED):
            return None
        if bearer_of(request) is not None or not accesses.cookie_of(request):
            return None
        access = await anyio.to_thread.run_sync(accesses.find_access, request, self._web.engine)
        return None if access is None else access.identity

    async def _cached_response(
        self, route: PageRoute, page_request: PageRequest, path: str, kind: str
    ) -> CachedResponse:
        async def render() -> CachedResponse:
            return await self._render_in_thread(route, page_request, path, kind)

        if route.private:
            return await render()
        root = page_request.links.to()
        key = (root, path, kind, urlencode(sorted(page_request.query.items())))
        return await self._cache.get(key, render)

    async def _render_in_thread(
        self, route: PageRoute, page_request: PageRequest, path: str, kind: str
    ) -> CachedResponse:
        def render() -> CachedResponse:
            page = self._draw(route, page_request)
            return _rendered(page, page_request, path, kind, self._web.settings.origin)

        return await anyio.to_thread.run_sync(render, limiter=self._threads)

    def _draw(self, route: PageRoute, page_request: PageRequest) -> Page:
        page = route.draw(self._web, page_request)
        return replace(page, lone_bots=self._web.snapshot.lone_bots)

    def live_updates(self, route: PageRoute) -> Endpoint:
        """Return the endpoint that streams the changed live parts of the page."""

        async def stream(request: Request) -> Response:
            page_request = self._page_request(request, route)
            viewer = await self._viewer(request, "html") if route.owners else None
            if viewer:
                page_request = replace(page_request, viewer=viewer)

            def draw() -> tuple[Parts, frozenset[str]]:
                if viewer and not accesses.is_session_of(request, self._web.engine, viewer):
                    raise HTTPException(401, "the session has ended.")
                page = self._draw(route, page_request)
                return html_pages.fragments(page, page_request.links), page.topics

            async def parts() -> tuple[Parts, frozenset[str]]:
                return await anyio.to_thread.run_sync(draw, limiter=self._threads)

            # Render the page first, so that errors produce a response with their status.
            path = request.scope["path"]
            name = _address(page_request, path)
            if viewer:
                await parts()
                # The clients of a session share a rendering.
                name = f"{name} {accesses.cookie_of(request)}"
            else:
                await self._cached_response(route, page_request, path.removeprefix(LIVE), "html")
            shown = request.headers.get("last-event-id") or request.query_params.get(
                SHOWN_DIGESTS, ""
            )
            chunks = self._live.events(name, parts, read_digests(shown), route.pause)
            headers = PERSONAL if viewer else {}
            return EventStreamResponse(chunks, self._stream_clients, EVENTS, headers)

        return self.failing(stream)

    def feed(self, feed: Feed) -> Endpoint:
        """Return the endpoint of the feed: server-sent events if accepted, else lines of JSON."""

        async def stream(request: Request) -> Response:
            query = request.query_params
            selection = FeedFilter(
                query.get("match") or None,
                query.get("tournament") or None,
                ladder_in_query(query.get("form", "")) or None,
            )
            events = EVENTS in request.headers.get("accept", "")
            return EventStreamResponse(
                feed.read(selection, events=events),
                self._stream_clients,
                EVENTS if events else LINES,
            )

        return self.failing(stream)

    def failing(self, endpoint: Endpoint) -> Endpoint:
        """Wrap an endpoint to convert its exceptions to error responses."""

        @wraps(endpoint)
        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except Exception as error:
                return await self.error(request, error)

        return answer

    def _page_request(self, request: Request, route: PageRoute) -> PageRequest:
        """Return the parsed request. Undeclared query parameters are ignored."""
        if not self._web.snapshot.at:
            raise HTTPException(503, "the server is starting; retry in 5 s.", {"Retry-After": "5"})
        known = {name for name, _ in route.query}
        query = {name: text for name, text in request.query_params.items() if name in known}
        return PageRequest(dict(request.path_params), query, links_of(request))


def _address(page_request: PageRequest, path: str, **more: str) -> str:
    """Return the link to a path with the query of a request and more parameters."""
    return page_request.links.to(*path.split("/")[1:], **{**page_request.query, **more})


def _rendered(
    page: Page, page_request: PageRequest, path: str, kind: str, origin: str
) -> CachedResponse:
    """Return a page in the requested kind; `origin` is the public URL before all paths."""
    offered = page_kinds.offered(page)
    if kind not in offered:
        available = ", ".join(offered).upper()
        raise HTTPException(
            406, f"Not available as {kind.upper()}. Available formats: {available}."
        )
    headers = page.headers
    if kind == "atom" and page.feed is not None:
        feed = page.feed()
        text = feed.text
        headers = {**headers, "Last-Modified": formatdate(feed.updated, usegmt=True)}
    elif kind == "html":
        text = html_pages.html(
            page,
            page_request.links,
            live="" if page.still else _live_address(page, page_request, path),
            path=path,
            public=origin + _address(page_request, path) if origin else "",
            picture=origin + page.picture if origin and page.picture else "",
            viewer=page_request.viewer,
        )
    else:
        text = data_formats.written(page, kind)
    return CachedResponse(text.encode(), page.status, KINDS[kind], headers, page.topics, page.fresh)


def _kind(request: Request, route: PageRoute) -> str:
    """Return the requested kind; JSON if a page has no HTML and the client accepts everything."""
    kind: str = request.state.kind
    is_program = request.state.error_kind == "json"
    return "json" if kind == "html" and "html" not in route.kinds and is_program else kind


def _live_address(page: Page, page_request: PageRequest, path: str) -> str:
    """Return the address of the live updates of a page; empty if it has no live parts."""
    if not page.parts:
        return ""
    shown = digests_text(html_pages.fragments(page, page_request.links))
    return _address(page_request, LIVE + path, **{SHOWN_DIGESTS: shown})


def _client_has(request: Request, answer: CachedResponse) -> bool:
    """Return whether the client has this response (RFC 9110, section 13.2.2)."""
    tags, since = (request.headers.get(f"if-{name}") for name in ("none-match", "modified-since"))
    if tags is not None or since is None:
        return answer.has_tag_in(tags or "")
    modified = answer.headers.get("Last-Modified")
    try:
        return modified is not None and (
            parsedate_to_datetime(modified) <= parsedate_to_datetime(since)
        )
    except (TypeError, ValueError):
        # The date is not valid, or has no time zone.
        return False


def _response(request: Request, answer: CachedResponse) -> Response:
    """Return the response; 304 without a body if the client already has it."""
    is_html = answer.media_type == KINDS["html"]
    headers = {
        "ETag": answer.tag,
        "Cache-Control": "no-cache",
        "Vary": "Accept, Accept-Encoding" + (", Cookie" if is_html else ""),
        **answer.headers,
    }
    if answer.status == 200 and _client_has(request, answer):
        return Response(status_code=304, headers=headers)
    body = answer.body
    if "gzip" in request.headers.get("accept-encoding", "") and answer.compressed is not None:
        body = answer.compressed
        headers["Content-Encoding"] = "gzip"
    if request.method == "HEAD":
        headers["Content-Length"] = str(len(body))
        body = b""
    return Response(body, answer.status, headers, media_type=answer.media_type)
