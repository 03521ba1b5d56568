"""Owners of bots, and the tokens by which they are known.

Of a token only its hash is stored. A plain SHA-256 is enough: a token is 32 random bytes, which
nobody can guess however quickly a guess can be tried; slow hashes are for what people make up.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from sqlalchemy import Engine, delete, exc, insert, select, update

from arena.errors import Conflict, NotFound, check_name
from arena.store import schema
from arena.store.database import now, reading, writing

_BYTES = 32


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody whose bots these are. created: when the token was made that is in force."""

    name: str
    created: float


def add(engine: Engine, name: str) -> str:
    """Makes an owner known; gives the token, which is told nowhere else.

    Raises:
        BadName: it cannot be the name of an owner.
        Conflict: the owner has one already.
    """
    check_name("an owner", name)
    token = secrets.token_urlsafe(_BYTES)
    try:
        with writing(engine, "add_owner") as connection:
            made = insert(schema.owners).values(name=name, token=_hash(token), created=now())
            connection.execute(made)
    except exc.IntegrityError:
        raise Conflict(
            f"{name} has a token already; `pokearena owner renew {name}` makes another."
        ) from None
    return token


def renew(engine: Engine, name: str) -> str:
    """Gives an owner another token; the one before is worth nothing from now on.

    Raises:
        NotFound: there is no such owner.
    """
    token = secrets.token_urlsafe(_BYTES)
    table = schema.owners
    with writing(engine, "renew_owner") as connection:
        changed = connection.execute(
            update(table).where(table.c.name == name).values(token=_hash(token), created=now())
        )
        if changed.rowcount == 0:
            raise _unknown(name)
    return token


def remove(engine: Engine, name: str) -> None:
    """Forgets the token of an owner; the bots stay the owner's.

    Raises:
        NotFound: there is no such owner.
    """
    table = schema.owners
    with writing(engine, "remove_owner") as connection:
        if connection.execute(delete(table).where(table.c.name == name)).rowcount == 0:
            raise _unknown(name)


def listing(engine: Engine) -> tuple[Owner, ...]:
    """The owners who have a token, by name."""
    table = schema.owners
    with reading(engine) as connection:
        rows = connection.execute(select(*table.c["name", "created"]).order_by(table.c.name))
        return tuple(Owner(**row._mapping) for row in rows)


def is_of(engine: Engine, token: str, name: str) -> bool:
    """Whether a token is this owner's. It takes as long whether it is or not."""
    table = schema.owners
    with reading(engine) as connection:
        known = connection.execute(select(table.c.token).where(table.c.name == name))
        stored = known.scalar_one_or_none()
    return hmac.compare_digest(_hash(token), stored or _hash("")) and stored is not None


def known_by(engine: Engine, token: str) -> str | None:
    """The owner whose token this is; None if it is nobody's."""
    table = schema.owners
    with reading(engine) as connection:
        # What the time tells is of a hash, from which no token can be made.
        found = connection.execute(select(table.c.name).where(table.c.token == _hash(token)))
        return found.scalar_one_or_none()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _unknown(name: str) -> NotFound:
    return NotFound(f"{name} has no token; `pokearena owner list` shows who has one.")
