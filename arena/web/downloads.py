"""Files that are no pages: records of matches."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from arena.store import results
from arena.web.serving import Endpoint
from arena.web.state import Web

RECORD = "/matches/{match}.jsonl"


def record(web: Web) -> Endpoint:
    """Answers with the record of a match, as much of it as may be known."""

    async def answer(request: Request) -> Response:
        match = request.path_params["match"]
        text = await run_in_threadpool(results.record, web.engine, match)
        headers = {"Content-Disposition": f'attachment; filename="{match}.jsonl"'}
        return Response(text, headers=headers, media_type="application/jsonl")

    return answer
