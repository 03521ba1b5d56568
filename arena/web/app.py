"""The web server: addresses, what answers them, and in which form."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from arena.store.errors import NotFound
from arena.web import drawing
from arena.web.kinds import KINDS
from arena.web.links import ServerLinks
from arena.web.live import Live, Parts
from arena.web.page import Ask, BadAsk, NoSuchPage, Page
from arena.web.routes import PAGES, Draw
from arena.web.security import Kinds, Security
from arena.web.state import Web

_STATIC = Path(__file__).parent / "static"
_ERRORS = (BadAsk, NoSuchPage, NotFound, HTTPException, Exception)
LIVE = "/live"
"""Before the address of a page: its news."""


def create(web: Web) -> Starlette:
    """The application. It watches the store from its start to its end."""
    live = Live(web.changes)
    links = ServerLinks(_release())

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # The first who asks is not told that there is nothing.
        await web.look()
        watching = asyncio.create_task(web.watch())
        try:
            yield
        finally:
            watching.cancel()

    def answering(draw: Draw) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            ask = _ask(request, links)
            page = await run_in_threadpool(draw, web, ask)
            return await run_in_threadpool(_response, request, page, ask)

        return answer

    def streaming(draw: Draw) -> Callable[[Request], Awaitable[Response]]:
        async def stream(request: Request) -> Response:
            ask = _ask(request, links)

            async def parts() -> tuple[Parts, frozenset[str]]:
                page = await run_in_threadpool(draw, web, ask)
                return await run_in_threadpool(drawing.fragments, page, links), page.topics

            # What cannot be drawn is told now, with its status.
            await run_in_threadpool(draw, web, ask)
            address = request.url.path + "?" + urlencode(sorted(ask.query.items()))
            return StreamingResponse(
                live.events(address, parts),
                media_type="text/event-stream",
                headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
            )

        return stream

    async def failed(request: Request, error: Exception) -> Response:
        return _error(request, error, links)

    async def alive(request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def ready(request: Request) -> Response:
        here = web.sight.at > 0
        return PlainTextResponse("ready\n" if here else "starting\n", 200 if here else 503)

    routes: list[BaseRoute] = [
        Route("/healthz", alive),
        Route("/readyz", ready),
        Mount("/static", StaticFiles(directory=_STATIC)),
    ]
    for each in PAGES:
        routes.append(Route(each.path, answering(each.draw)))
        routes.append(Route(LIVE + each.path, streaming(each.draw)))
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(Security),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5),
            Middleware(Kinds),
        ],
        exception_handlers=dict.fromkeys(_ERRORS, failed),
        lifespan=lifespan,
    )


def _ask(request: Request, links: ServerLinks) -> Ask:
    return Ask(dict(request.path_params), dict(request.query_params), links)


def _response(request: Request, page: Page, ask: Ask) -> Response:
    """A page in the form that is wanted; nothing but its tag for who has it already."""
    kind = request.state.kind
    if kind not in drawing.offered(page):
        raise HTTPException(
            406,
            f"this page is not to be had as {kind}; it is as {', '.join(drawing.offered(page))}.",
        )
    text = _written(request, page, ask, kind)
    body = text.encode()
    headers = {
        "ETag": f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"',
        "Cache-Control": "no-cache",
        "Vary": "Accept",
        **page.headers,
    }
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, page.status, headers, media_type=KINDS[kind])


def _written(request: Request, page: Page, ask: Ask, kind: str) -> str:
    match kind:
        case "json":
            return drawing.as_json(page)
        case "csv":
            assert page.csv is not None
            return drawing.as_csv(page.csv)
        case "md":
            assert page.text is not None
            return drawing.as_markdown(page.title, page.text)
        case "txt":
            assert page.text is not None
            return drawing.as_text(page.title, page.text)
    path = request.url.path
    query = f"?{request.url.query}" if request.url.query else ""
    live = f"{LIVE}{path}{query}" if page.parts else ""
    return drawing.html(page, ask.links, live=live, path=path)


def _error(request: Request, error: Exception, links: ServerLinks) -> Response:
    """What went wrong, in a sentence and in the form that was wanted."""
    status, sentence = _told(error)
    kind = getattr(request.state, "kind", "html")
    if kind == "json":
        return JSONResponse({"error": sentence}, status)
    if kind != "html":
        return PlainTextResponse(f"{sentence}\n", status)
    page = Page(title=sentence, template="error.html", model={"sentence": sentence}, status=status)
    return Response(drawing.html(page, links), status, media_type=KINDS["html"])


def _told(error: Exception) -> tuple[int, str]:
    match error:
        case BadAsk():
            return 400, str(error)
        case NoSuchPage() | NotFound():
            return 404, str(error)
        case HTTPException(status_code=404):
            return 404, "there is no such page; the ladders are on the first one."
        case HTTPException(status_code=status, detail=detail):
            return status, detail
    return 500, "the arena could not draw this page; its log says why."


def _release() -> str:
    from importlib.metadata import version

    return version("pokearena")
