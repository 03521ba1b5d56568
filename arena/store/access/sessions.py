"""Sessions of signed-in organisers and owners (docs/decisions/2026-11-24-sessions-and-csrf.md).

A session is bound to the token that opened it: it ends when the token is renewed or revoked. The
cookie contains a random value; the store contains only its hash.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Engine, Table, delete, insert, or_, select

from arena.store import schema
from arena.store.access import organisers
from arena.store.access.tokens import new_token, token_hash
from arena.store.bots import owners
from arena.store.database import now, reading, writing

LIFETIME_SECONDS: Final = 12 * 3600
"""Seconds after which a session ends."""
_PER_PERSON: Final = 10
"""Maximum number of sessions of an organiser or owner; the oldest ones end first."""


class Role(StrEnum):
    """The permissions of a person who is signed in or sent a token."""

    ORGANISER = "organiser"
    OWNER = "owner"


_TABLES: Final[dict[Role, Table]] = {
    Role.ORGANISER: schema.organisers,
    Role.OWNER: schema.owners,
}


@dataclass(frozen=True, slots=True)
class Identity:
    """A person whose token is valid."""

    role: Role
    name: str


def known_by(engine: Engine, token: str) -> Identity | None:
    """Return the organiser or owner with this token; None if the token is unknown."""
    if not token:
        return None
    if organiser := organisers.known_by(engine, token):
        return Identity(Role.ORGANISER, organiser)
    owner = owners.known_by(engine, token)
    return Identity(Role.OWNER, owner) if owner else None


def sign_in(engine: Engine, token: str, earlier: str = "") -> tuple[str, Identity] | None:
    """Open a session with a new random secret for the cookie.

    Args:
        token: the token of an organiser or owner.
        earlier: the secret of the browser's earlier session, which ends.

    Returns:
        The secret and the identity; None if the token is unknown.
    """
    identity = known_by(engine, token)
    if identity is None:
        return None
    secret, table = new_token(), schema.sessions
    mine = (table.c.role == identity.role, table.c.name == identity.name)
    oldest = (
        select(table.c.id).where(*mine).order_by(table.c.created.desc()).offset(_PER_PERSON - 1)
    )
    with writing(engine, "sign_in") as connection:
        surplus = connection.execute(oldest).scalars().all()
        connection.execute(
            delete(table).where(
                or_(
                    table.c.expires <= now(),
                    table.c.id == token_hash(earlier),
                    table.c.id.in_(surplus),
                )
            )
        )
        connection.execute(
            insert(table).values(
                id=token_hash(secret),
                role=identity.role,
                name=identity.name,
                token=token_hash(token),
                created=now(),
                expires=now() + LIFETIME_SECONDS,
            )
        )
    return secret, identity


def find_session(engine: Engine, secret: str) -> Identity | None:
    """Return whose session has this secret; None if it has ended or its token is revoked."""
    table = schema.sessions
    if not secret:
        return None
    with reading(engine) as connection:
        query = select(*table.c["role", "name", "token"]).where(
            table.c.id == token_hash(secret), table.c.expires > now()
        )
        row = connection.execute(query).one_or_none()
        if row is None:
            return None
        people = _TABLES[Role(row.role)]
        current = select(people.c.name).where(
            people.c.name == row.name, people.c.token == row.token
        )
        if connection.execute(current).one_or_none() is None:
            return None
    return Identity(Role(row.role), row.name)


def sign_out(engine: Engine, secret: str) -> None:
    """End a session; does nothing if it has ended."""
    table = schema.sessions
    with writing(engine, "sign_out") as connection:
        connection.execute(delete(table).where(table.c.id == token_hash(secret)))


def form_token(secret: str) -> str:
    """Return the token that each form of a session must contain (against CSRF).

    It is derived from the session's secret, so other sites can neither read nor compute it.
    """
    return hmac.new(secret.encode("utf-8", "replace"), b"form", hashlib.sha256).hexdigest()


def is_form_token(secret: str, sent: str) -> bool:
    """Return whether a form was created for this session, in constant time."""
    return hmac.compare_digest(form_token(secret).encode(), sent.encode("utf-8", "replace"))
