"""Health checks: whether the web server is alive, and whether it is ready for requests."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final

from redis.exceptions import RedisError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from arena.store.events import messages
from arena.web.data.web_state import WebState

_REDIS_SECONDS: Final = 2.0
_ASK_SECONDS: Final = 1.0


def routes(web: WebState) -> list[Route]:
    """Return the routes `/healthz` and `/readyz`.

    The server is not ready without the database, because it cannot render pages. Without Redis it
    is ready; the response only mentions the failure.
    """

    asked_at, answered = -math.inf, False

    async def redis_answers() -> bool:
        nonlocal asked_at, answered
        # Clients can send any number of requests, so the result is cached for 1 s.
        if time.monotonic() > asked_at + _ASK_SECONDS:
            asked_at = time.monotonic()
            answered = await _answers(web.settings.redis)
        return answered

    async def alive(request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def ready(request: Request) -> Response:
        if not web.snapshot.at:
            return PlainTextResponse("starting\n", 503)
        if not web.is_readable:
            return PlainTextResponse("cannot read the database\n", 503)
        if web.settings.redis and not await redis_answers():
            return PlainTextResponse(
                "ready, but Redis is not reachable: pages have no live updates\n"
            )
        return PlainTextResponse("ready\n")

    return [Route("/healthz", alive), Route("/readyz", ready)]


async def _answers(url: str) -> bool:
    client = messages.connect(url)
    try:
        async with asyncio.timeout(_REDIS_SECONDS):
            await client.exists("nothing")
    except (RedisError, OSError, TimeoutError):
        return False
    finally:
        await client.aclose()
    return True
