"""Owners of bots, and the tokens that authenticate them."""

from __future__ import annotations

import hmac
from typing import Final

from sqlalchemy import Connection, Engine, select

from arena.errors import BadName, check_new_name, check_owner
from arena.store import schema
from arena.store.access.token_holders import TokenHolders
from arena.store.access.tokens import token_hash
from arena.store.database import reading

PSEUDONYM: Final = "deleted-"
"""Prefix of the pseudonyms of deleted owners (`arena.store.bots.owner_data`)."""


_OWNERS: Final = TokenHolders(schema.owners, "owner")

renew = _OWNERS.renew
revoke = _OWNERS.revoke
list_owners = _OWNERS.list_holders
known_by = _OWNERS.known_by
expect_token = _OWNERS.expect


def add_owner(engine: Engine, name: str) -> str:
    """Register an owner and return the token, which cannot be retrieved later.

    Raises:
        BadName: the name is not valid for an owner.
        Conflict: the owner has a token already.
    """
    check_owner(name)
    check_new_name("an owner", name)
    if name.startswith(PSEUDONYM):
        raise BadName(f'names that begin with "{PSEUDONYM}" belong to deleted owners.')
    return _OWNERS.add(engine, name)


def check_if_new(connection: Connection, name: str) -> None:
    """Check the name of an owner unless it is in use already.

    Raises:
        BadName: it is not valid for a new owner.
    """
    columns = (schema.owners.c.name, schema.bots.c.owner, schema.entrants.c.owner)
    queries = [select(column).where(column == name).limit(1) for column in columns]
    if not any(connection.execute(query).first() for query in queries):
        check_new_name("an owner", name)


def is_of(engine: Engine, token: str, name: str) -> bool:
    """Return whether a token is this owner's, in constant time (against timing attacks)."""
    table = schema.owners
    with reading(engine) as connection:
        known = connection.execute(select(table.c.token).where(table.c.name == name))
        stored = known.scalar_one_or_none()
    return hmac.compare_digest(token_hash(token), stored or token_hash("")) and stored is not None
