"""Responses for failed requests."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Final

from sqlalchemy import exc
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from arena.errors import NotFound
from arena.store.access.sessions import Identity
from arena.store.objects.object_storage import ObjectStorageError
from arena.web.management.access import cookie_of
from arena.web.page import Forbidden, InvalidQuery, Page, PageNotFound
from arena.web.serving import html_pages
from arena.web.serving.page_kinds import KINDS
from arena.web.serving.root_path import links_of
from arena.web.serving.security import PERSONAL
from referee.sanitizing import one_line

log = logging.getLogger("arena.web")

_COMMAND_HINT: Final = re.compile(r"; `pokearena [^`]*`[^`]*\.$")
"""The end of an error of the store that names a command for the terminal."""
_LISTS: Final = {
    "unknown-match": "matches",
    "unknown-tournament": "tournaments",
    "unknown-version": "bots",
}
"""Page that lists all objects, by the code of the error for an unknown one."""
_NEXT_PAGES: Final = {
    "account": ("account", "Your bots"),
    "bots": ("bots", "All bots"),
    "docs": ("docs", "All pages of the documentation"),
    "matches": ("matches", "All matches"),
    "organiser": ("organiser", "Overview for organisers"),
    "games": ("games", "All games"),
    "ladders": ("ladders", "All ladders"),
    "play": ("games", "All games"),
    "rules": ("games", "All games"),
    "sign-in": ("sign-in", "Sign in"),
    "submissions": ("submissions", "All submissions"),
    "tournaments": ("tournaments", "All tournaments"),
}
"""Page that the page of an error links to and the text of this link, by the first word of the
address."""


def response(request: Request, error: Exception, viewer: Identity | None = None) -> Response:
    """Return the response for a failed request. Unexpected exceptions are logged.

    Args:
        viewer: who is signed in, for the header of a page; None without a session.
    """
    status, sentence, given = status_and_sentence(request, error)
    # Caches may otherwise keep some errors, such as 404, for a time of their choice.
    headers = {"Cache-Control": "no-store", **given}
    # The sentence may contain a part of the URL, chosen by the author of a link.
    sentence = one_line(sentence)
    if status == 204:
        return Response(status_code=status, headers=headers)
    kind = getattr(request.state, "error_kind", "json")
    if kind == "json":
        return JSONResponse({"error": sentence}, status, headers)
    if kind != "html":
        return PlainTextResponse(f"{sentence}\n", status, headers)
    next_page = _next_page(request, status)
    # A refusal before the session is looked up must not ask a person with a session to sign in.
    has_session = viewer is None and bool(cookie_of(request))
    model = {"sentence": sentence, "next_page": next_page}
    page = Page(title=sentence, template="error.html", model=model, status=status)
    if viewer is not None or has_session:
        headers |= PERSONAL
    frame = {"path": request.scope["path"], "viewer": viewer, "has_session": has_session}
    body = html_pages.html(page, links_of(request), **frame)
    return Response(body, status, headers, media_type=KINDS["html"])


def without_command(error: Exception) -> str:
    """Return the sentence of an error without the command that it suggests.

    Readers of the pages and programs that use the API have no command line of the arena.
    """
    return _COMMAND_HINT.sub(".", str(error))


def _next_page(request: Request, status: int) -> tuple[str, str]:
    """Return the page to read after an error, and the text of the link to it."""
    word = request.scope["path"].split("/")[1]
    if status == 403 and word in ("account", "organiser"):
        word = "sign-in"  # The session has another role.
    return _NEXT_PAGES.get(word, ("", "Show the ladders"))


def status_and_sentence(request: Request, error: Exception) -> tuple[int, str, Mapping[str, str]]:
    match error:
        case InvalidQuery():
            return 400, str(error), {}
        case Forbidden():
            return 403, str(error), {}
        case PageNotFound():
            return 404, str(error), {}
        case NotFound(code=code):
            sentence = without_command(error)
            if code in _LISTS and not sentence.endswith("?"):
                sentence = (
                    f"{sentence.rstrip('.')}; {links_of(request).to(_LISTS[code])} lists all."
                )
            return 404, sentence, {}
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
        case exc.OperationalError() | exc.InterfaceError() | exc.TimeoutError():
            log.warning("cannot render %s: %s", request.scope["path"], error)
            return 503, "the database cannot be reached; retry in 10 s.", {"Retry-After": "10"}
    log.error("cannot render %s", request.scope["path"], exc_info=error)
    return 500, "internal error; the log of the web server has the details.", {}


def _wrong_method(request: Request, given: Mapping[str, str]) -> tuple[int, str, Mapping[str, str]]:
    known = [word.strip() for word in given.get("Allow", "").split(",") if word.strip()]
    allowed = ", ".join(sorted({*known, "OPTIONS"}))
    headers = {"Allow": allowed, "Access-Control-Allow-Methods": allowed}
    if request.method == "OPTIONS":
        return 204, "", {**headers, "Access-Control-Allow-Headers": "Accept, Authorization"}
    return 405, f"method {request.method} is not allowed; allowed: {allowed}.", headers
