"""The owner's token in requests. It never appears in URLs or logs."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request

from arena.web.page import InvalidQuery

_LETTERS = 200


async def token_of(request: Request, form: bool = True) -> str:
    """Return the token of a request; empty if it is missing.

    It is a field of a posted form, or the header `Authorization: Bearer`.

    Args:
        request: the request.
        form: whether the body of a POST request is a form.

    Raises:
        InvalidQuery: a posted form does not contain a valid token.
    """
    if form and request.method == "POST":
        sent = parse_qs((await request.body()).decode("utf-8", "replace"))
        token = (sent.get("token") or [""])[-1].strip()
        if not token or len(token) > _LETTERS:
            raise InvalidQuery('send a form with your token in the field "token".')
        return token
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip()[:_LETTERS] if scheme.lower() == "bearer" else ""
