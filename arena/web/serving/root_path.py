"""The path below which a proxy shows the pages, such as /arena.

`RootPath` is the outermost layer. It removes this path from the path of a request and adds it to
the links of the response. All other layers and endpoints see the paths of the routes, with and
without a proxy that removes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.services.web_process import WebSettings, checked_root_path
from arena.web.page import ServerLinks

HEADER: Final = "X-Forwarded-Prefix"


def links_of(request: Request) -> ServerLinks:
    """Return the builder of links for the response to a request."""
    links = request.state.links
    assert isinstance(links, ServerLinks)
    return links


class RootPath:
    """Middleware that maps paths below the root path to those of the routes.

    A proxy either removes the root path from a request or leaves it there. Both work, unless the
    root path begins like a route: then the proxy must remove it, because `/docs/docs` and `/docs`
    would be the same page.

    Args:
        settings: name the root path, or allow a trusted proxy to send it with each request.
        links: the links without a root path.
    """

    def __init__(
        self, app: ASGIApp, settings: WebSettings, links: ServerLinks, routes: Iterable[BaseRoute]
    ) -> None:
        self._app = app
        self._settings = settings
        self._links = links
        self._first_words = {
            route.path.split("/")[1] for route in routes if isinstance(route, Route | Mount)
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with the path of a route and the builder of its links."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_sent = self._settings.proxied and not self._settings.root_path
        root_path = _sent_path(scope) if is_sent else self._settings.root_path

        async def varying(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Otherwise a cache could store the links of a client that sent the header itself.
                MutableHeaders(scope=message).add_vary_header(HEADER)
            await send(message)

        inner = {
            **scope,
            "path": self._path_of_route(scope["path"], root_path),
            "state": {**scope.get("state", {}), "links": replace(self._links, root_path=root_path)},
        }
        await self._app(inner, receive, varying if is_sent else send)

    def _path_of_route(self, path: str, root_path: str) -> str:
        if not root_path or root_path.split("/")[1] in self._first_words:
            return path
        if path == root_path:
            return "/"
        return path.removeprefix(root_path) if path.startswith(f"{root_path}/") else path


def _sent_path(scope: Scope) -> str:
    """Return the root path that the nearest proxy sent; empty without a valid one."""
    # The nearest proxy appends its value.
    sent = Headers(scope=scope).getlist(HEADER)[-1:]
    return checked_root_path(sent[0].rpartition(",")[2].strip()) or "" if sent else ""
