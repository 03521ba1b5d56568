"""The owner's token in requests. It never appears in URLs or logs."""

from __future__ import annotations

from urllib.parse import parse_qs

import anyio
from sqlalchemy import Engine
from starlette.exceptions import HTTPException
from starlette.requests import Request

from arena.store.bots import owners
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


async def owner_of(request: Request, engine: Engine) -> str:
    """Return the owner whose token a program sent in the header `Authorization: Bearer`.

    Raises:
        HTTPException: 401, the token is missing or unknown.
    """
    token = await token_of(request, form=False)
    owner = await anyio.to_thread.run_sync(owners.known_by, engine, token)
    if owner is None:
        reason = "invalid token" if token else "missing token"
        raise HTTPException(
            401,
            f"{reason}; send the token as Authorization: Bearer TOKEN. "
            "The organiser creates tokens with `pokearena owner add`.",
            {"WWW-Authenticate": "Bearer"},
        )
    return owner
