"""Earlier addresses of pages: they lead to the section of the games."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from arena.web.serving.root_path import links_of

MOVED: Final = ("/rules", "/play", "/play/{game}")


async def _moved(request: Request) -> Response:
    game = request.path_params.get("game", "")
    kind = request.scope["state"]["named_kind"]
    path = f"/games/{game}" if game else "/games"
    query = f"?{request.url.query}" if request.url.query else ""
    address = links_of(request).within(path + (f".{kind}" if kind else "") + query)
    return RedirectResponse(address, 301)


def routes() -> list[Route]:
    """Return the routes of the earlier addresses."""
    return [Route(path, _moved, methods=["GET"]) for path in MOVED]
