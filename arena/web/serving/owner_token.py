"""The token with which the owner of a bot asks for more. It is in no address and in no log."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request

from arena.web.page import BadAsk

_LETTERS = 200


async def token_of(request: Request, form: bool = True) -> str:
    """The token of a request: of its form, or of `Authorization: Bearer`; empty for none.

    form: whether the body of what is posted is one.

    Raises BadAsk for a form without one.
    """
    if form and request.method == "POST":
        sent = parse_qs((await request.body()).decode("utf-8", "replace"))
        token = (sent.get("token") or [""])[-1].strip()
        if not token or len(token) > _LETTERS:
            raise BadAsk("a form with your token is expected here.")
        return token
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip()[:_LETTERS] if scheme.lower() == "bearer" else ""
