"""Organisers, and the tokens that authenticate them on the pages and in the HTTP API."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine, delete, exc, insert, select, update

from arena.errors import Conflict, NotFound, check_name, check_new_name
from arena.store import schema
from arena.store.access.tokens import new_token, token_hash
from arena.store.database import now, reading, writing


@dataclass(frozen=True, slots=True)
class Organiser:
    """An organiser with a token.

    Attributes:
        name: the organiser's name, as in the audit log.
        created: when the current token was created.
    """

    name: str
    created: float


def add_organiser(engine: Engine, name: str) -> str:
    """Register an organiser and return the token, which cannot be retrieved later.

    Raises:
        BadName: the name is not valid.
        Conflict: the organiser has a token already.
    """
    check_name("an organiser", name)
    check_new_name("an organiser", name)
    token = new_token()
    try:
        with writing(engine, "add_organiser") as connection:
            values = {"name": name, "token": token_hash(token), "created": now()}
            connection.execute(insert(schema.organisers).values(values))
    except exc.IntegrityError:
        raise Conflict(
            f"{name} has a token already; `pokearena organiser renew {name} --reason TEXT` "
            "creates another.",
            code="has-token",
        ) from None
    return token


def renew(engine: Engine, name: str) -> str:
    """Replace an organiser's token and return the new one; the old one and its sessions end.

    Raises:
        NotFound: the organiser has no token.
    """
    token, table = new_token(), schema.organisers
    with writing(engine, "renew_organiser") as connection:
        values = {"token": token_hash(token), "created": now()}
        changed = connection.execute(update(table).where(table.c.name == name).values(values))
        if changed.rowcount == 0:
            raise _unknown(name)
    return token


def revoke(engine: Engine, name: str) -> None:
    """Delete an organiser's token; it and its sessions are invalid at once.

    Raises:
        NotFound: the organiser has no token.
    """
    table = schema.organisers
    with writing(engine, "revoke_organiser") as connection:
        if connection.execute(delete(table).where(table.c.name == name)).rowcount == 0:
            raise _unknown(name)


def list_organisers(engine: Engine) -> tuple[Organiser, ...]:
    """Return the organisers that have a token, by name."""
    table = schema.organisers
    with reading(engine) as connection:
        rows = connection.execute(select(*table.c["name", "created"]))
        # Sorted here, because the order of a database depends on its collation.
        listed = (Organiser(**row._mapping) for row in rows)
        return tuple(sorted(listed, key=lambda each: each.name))


def known_by(engine: Engine, token: str) -> str | None:
    """Return the organiser with this token; None if the token is unknown."""
    table = schema.organisers
    with reading(engine) as connection:
        # The timing of this lookup reveals only hash prefixes, from which no token can be derived.
        query = select(table.c.name).where(table.c.token == token_hash(token))
        return connection.execute(query).scalar_one_or_none()


def _unknown(name: str) -> NotFound:
    return NotFound(
        f"{name} has no organiser's token; `pokearena organiser list` shows who has one.",
        code="no-token",
    )
