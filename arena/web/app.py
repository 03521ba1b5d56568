"""The web application: routes, middleware and background tasks."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import mimetypes
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from arena.store.events import restarts
from arena.web import assets
from arena.web.data.web_state import WebState
from arena.web.management import owner_requests
from arena.web.management.endpoints import ManagementEndpoints
from arena.web.management.owner_requests import OwnerRequests
from arena.web.page import ServerLinks
from arena.web.routes import PAGES
from arena.web.serving import (
    downloads,
    readiness,
    relay_address,
    share_pictures,
    uploads,
)
from arena.web.serving.agent_requests import AgentRequests
from arena.web.serving.feed import Feed
from arena.web.serving.play_requests import PlayRequests
from arena.web.serving.request_limits import RequestLimits
from arena.web.serving.responses import FEED, LIVE, PageEndpoints
from arena.web.serving.root_path import RootPath, links_of
from arena.web.serving.security import ContentNegotiation, SecurityHeaders
from arena.web.serving.uploads import UploadEndpoint

_CACHE_FOREVER = "public, max-age=31536000, immutable"
_Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]

_MOVED = ("/rules", "/play", "/play/{game}")
_FIRST_SECONDS = 20.0
"""Time limit for the first read of the store; after it, the server starts without a snapshot."""


def create(web: WebState) -> Starlette:
    """Return the application. It reads the store regularly while it runs."""
    static = _StaticFiles(assets.STATIC)
    links = ServerLinks(static.version, has_play=web.settings.seats_people)
    feed = Feed(web)

    serving = PageEndpoints(web)
    for_agents = AgentRequests(web)
    routes = [*for_agents.routes(), *_routes(web, serving, static, feed)]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(RootPath, settings=web.settings, links=links, routes=routes),
            Middleware(SecurityHeaders),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5),
            Middleware(ContentNegotiation),
            Middleware(RequestLimits, settings=web.settings),
        ],
        exception_handlers={HTTPException: serving.error},
        lifespan=_background_tasks(web, feed, for_agents),
    )
    # Starlette's redirects would use the Host header of the request.
    app.router.redirect_slashes = False
    return app


def _routes(
    web: WebState, serving: PageEndpoints, static: _StaticFiles, feed: Feed
) -> list[BaseRoute]:
    receiver = UploadEndpoint(web)
    upload = serving.failing(receiver.receive)
    owned = OwnerRequests(web)
    routes: list[BaseRoute] = [
        *readiness.routes(web),
        Route(FEED, serving.feed(feed)),
        relay_address.route(web),
        Mount("/static", static),
        *downloads.routes(web, serving.failing),
        *share_pictures.routes(web, serving.failing),
        Route(uploads.ADDRESS, upload, methods=["POST"]),
        Route(owner_requests.RETIREMENTS, serving.failing(owned.retire), methods=["POST"]),
        Route(owner_requests.CHALLENGES, serving.failing(owned.challenge), methods=["POST"]),
        *ManagementEndpoints(web, serving, receiver).routes(),
        # Before the pages, because the page of a game has the address of its form.
        *PlayRequests(web).routes(serving),
        *(Route(path, _moved) for path in _MOVED),
    ]
    for page in PAGES:
        routes.append(Route(page.path, serving.page(page)))
        routes.append(Route(LIVE + page.path, serving.live_updates(page)))
    return routes


def _background_tasks(web: WebState, feed: Feed, for_agents: AgentRequests) -> _Lifespan:
    """Return the lifespan of the application: it runs the tasks that keep its state current."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # Wait for the first snapshot, so that the first requests do not fail.
        first = asyncio.create_task(web.read_store())
        await asyncio.wait({first}, timeout=_FIRST_SECONDS)

        async def watch() -> None:
            await asyncio.wait({first})
            await web.keep_snapshot()

        tasks = [
            asyncio.create_task(restarts.keep_task_running("web", work, web.settings.redis))
            for work in (
                watch,
                web.receive_events,
                web.watch_submissions,
                feed.run,
                web.play_tables.run,
                web.win_probabilities.run,
            )
        ]
        try:
            async with for_agents.running():
                yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await anyio.to_thread.run_sync(web.play_tables.close)

    return lifespan


async def _moved(request: Request) -> Response:
    """Lead from an earlier address of a page to the section of the games."""
    game = request.path_params.get("game", "")
    kind = request.scope["state"]["named_kind"]
    path = f"/games/{game}" if game else "/games"
    query = f"?{request.url.query}" if request.url.query else ""
    address = links_of(request).within(path + (f".{kind}" if kind else "") + query)
    return RedirectResponse(address, 301)


class _StaticFiles(StaticFiles):
    """Style sheets and scripts. A browser keeps a file whose address has the current version."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder)
        digest = hashlib.blake2b(digest_size=6)
        for file in sorted(folder.iterdir()):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
        self.version = digest.hexdigest()
        """Hash of all files."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file with the time for which it may be kept."""
        response: Response
        if path in assets.BUNDLES:
            response = Response(assets.text(path), media_type=mimetypes.guess_type(path)[0])
        else:
            response = await super().get_response(path, scope)
        is_current = scope["query_string"] == f"v={self.version}".encode()
        response.headers["Cache-Control"] = _CACHE_FOREVER if is_current else "no-cache"
        return response
