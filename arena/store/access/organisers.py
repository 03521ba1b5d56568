"""Organisers, and the tokens that authenticate them on the pages and in the HTTP API."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Engine

from arena.errors import check_name, check_new_name
from arena.store import schema
from arena.store.access.token_holders import TokenHolders

_ORGANISERS: Final = TokenHolders(schema.organisers, "organiser")

renew = _ORGANISERS.renew
revoke = _ORGANISERS.revoke
list_organisers = _ORGANISERS.list_holders
known_by = _ORGANISERS.known_by


def add_organiser(engine: Engine, name: str) -> str:
    """Register an organiser and return the token, which cannot be retrieved later.

    Raises:
        BadName: the name is not valid.
        Conflict: the organiser has a token already.
    """
    check_name("an organiser", name)
    check_new_name("an organiser", name)
    return _ORGANISERS.add(engine, name)
