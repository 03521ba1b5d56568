"""The relay's address as JSON, for `pokearena bot connect` with the web server's URL."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from arena.config import Folder
from arena.web.data.web_state import WebState

ADDRESS = "/relay"
_ANY = ("0.0.0.0", "[::]")


def route(web: WebState) -> Route:
    """Return the route of the relay's address."""

    def answer(request: Request) -> Response:
        return JSONResponse(relay_document(web), headers={"Cache-Control": "no-store"})

    return Route(ADDRESS, answer)


def relay_document(web: WebState) -> dict[str, Any]:
    """Return host, port and TLS of the relay.

    A null host stands for the web server's host; a null port means that a relay is not running.
    """
    data = web.settings.data
    running = None if data is None else Folder(data).running()
    if running is None or not running.relay or not running.alive:
        return {"host": None, "port": None, "tls": False}
    scheme, _, where = running.relay.partition("://")
    host, _, port = where.rpartition(":")
    return {"host": None if host in _ANY else host, "port": int(port), "tls": scheme == "grpcs"}
