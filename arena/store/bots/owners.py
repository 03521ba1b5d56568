"""Owners of bots, and the tokens that authenticate them.

Only the hash of a token is stored (`arena.store.access.tokens`).
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Engine, delete, exc, insert, select, update

from arena.errors import BadName, Conflict, NotFound, check_new_name, check_owner
from arena.store import schema
from arena.store.access.tokens import new_token, token_hash
from arena.store.database import now, reading, writing

PSEUDONYM: Final = "deleted-"
"""Prefix of the pseudonyms of deleted owners (`arena.store.bots.owner_data`)."""


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner of bots with a token.

    Attributes:
        name: the owner's name.
        created: when the current token was created.
    """

    name: str
    created: float


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
    token = new_token()
    try:
        with writing(engine, "add_owner") as connection:
            new_owner = insert(schema.owners).values(
                name=name, token=token_hash(token), created=now()
            )
            connection.execute(new_owner)
    except exc.IntegrityError:
        raise Conflict(
            f"{name} has a token already; `pokearena owner renew {name} --reason TEXT` "
            "creates another.",
            code="has-token",
        ) from None
    return token


def check_if_new(connection: Connection, name: str) -> None:
    """Check the name of an owner unless it is in use already.

    Raises:
        BadName: it is not valid for a new owner.
    """
    columns = (schema.owners.c.name, schema.bots.c.owner, schema.entrants.c.owner)
    queries = [select(column).where(column == name).limit(1) for column in columns]
    if not any(connection.execute(query).first() for query in queries):
        check_new_name("an owner", name)


def renew(engine: Engine, name: str) -> str:
    """Replace an owner's token and return the new one; the old token is invalid at once.

    Raises:
        NotFound: the owner has no token.
    """
    token = new_token()
    table = schema.owners
    with writing(engine, "renew_owner") as connection:
        changed = connection.execute(
            update(table).where(table.c.name == name).values(token=token_hash(token), created=now())
        )
        if changed.rowcount == 0:
            raise _unknown(name)
    return token


def remove(engine: Engine, name: str) -> None:
    """Delete an owner's token; the bots keep their owner.

    Raises:
        NotFound: the owner has no token.
    """
    table = schema.owners
    with writing(engine, "remove_owner") as connection:
        if connection.execute(delete(table).where(table.c.name == name)).rowcount == 0:
            raise _unknown(name)


def list_owners(engine: Engine) -> tuple[Owner, ...]:
    """Return the owners that have a token, by name."""
    table = schema.owners
    with reading(engine) as connection:
        rows = connection.execute(select(*table.c["name", "created"]))
        # Sorted here, because the order of a database depends on its collation.
        return tuple(sorted((Owner(**row._mapping) for row in rows), key=lambda each: each.name))


def is_of(engine: Engine, token: str, name: str) -> bool:
    """Return whether a token is this owner's, in constant time (against timing attacks)."""
    table = schema.owners
    with reading(engine) as connection:
        known = connection.execute(select(table.c.token).where(table.c.name == name))
        stored = known.scalar_one_or_none()
    return hmac.compare_digest(token_hash(token), stored or token_hash("")) and stored is not None


def known_by(engine: Engine, token: str) -> str | None:
    """Return the owner with this token; None if the token is unknown."""
    table = schema.owners
    with reading(engine) as connection:
        # The timing of this lookup reveals only hash prefixes, from which no token can be derived.
        names = connection.execute(select(table.c.name).where(table.c.token == token_hash(token)))
        return names.scalar_one_or_none()


def _unknown(name: str) -> NotFound:
    return NotFound(
        f"{name} has no token; `pokearena owner list` shows who has one.", code="no-token"
    )
