"""Responses for failed requests."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from arena.errors import NotFound
from arena.store.objects.object_storage import ObjectStorageError
from arena.web.page import Forbidden, InvalidQuery, Links, Page, PageNotFound
from arena.web.serving import html_pages
from arena.web.serving.page_kinds import KINDS
from referee.sanitizing import one_line

log = logging.getLogger("arena.web")


def response(request: Request, error: Exception, links: Links) -> Response:
    """Return the response for a failed request. Unexpected exceptions are logged."""
    status, sentence, headers = _status_and_sentence(request, error)
    # The sentence may contain a part of the URL, chosen by the author of a link.
    sentence = one_line(sentence)
    if status == 204:
        return Response(status_code=status, headers=headers)
    kind = getattr(request.state, "error_kind", "json")
    if kind == "json":
        return JSONResponse({"error": sentence}, status, headers)
    if kind != "html":
        return PlainTextResponse(f"{sentence}\n", status, headers)
    page = Page(title=sentence, template="error.html", model={"sentence": sentence}, status=status)
    return Response(html_pages.html(page, links), status, headers, media_type=KINDS["html"])


def _status_and_sentence(request: Request, error: Exception) -> tuple[int, str, Mapping[str, str]]:
    match error:
        case InvalidQuery():
            return 400, str(error), {}
        case Forbidden():
            return 403, str(error), {}
        case PageNotFound() | NotFound():
            return 404, str(error), {}
        case HTTPException(status_code=404, detail="Not Found"):
            return 404, "page not found; the home page lists the ladders.", {}
        case HTTPException(status_code=405, headers=headers):
            return _wrong_method(request, headers or {})
        case HTTPException(status_code=status, detail=detail, headers=headers):
            return status, detail, headers or {}
        case ObjectStorageError():
            log.warning("cannot render %s: %s", request.scope["path"], error)
            sentence = "the record of this match cannot be read now; retry in a minute."
            return 503, sentence, {"Retry-After": "60"}
    log.error("cannot render %s", request.scope["path"], exc_info=error)
    return 500, "internal error; the log of the web server has the details.", {}


def _wrong_method(request: Request, given: Mapping[str, str]) -> tuple[int, str, Mapping[str, str]]:
    known = [word.strip() for word in given.get("Allow", "").split(",") if word.strip()]
    allowed = ", ".join(sorted({*known, "OPTIONS"}))
    headers = {"Allow": allowed, "Access-Control-Allow-Methods": allowed}
    if request.method == "OPTIONS":
        return 204, "", {**headers, "Access-Control-Allow-Headers": "Accept, Authorization"}
    return 405, f"method {request.method} is not allowed; allowed: {allowed}.", headers
