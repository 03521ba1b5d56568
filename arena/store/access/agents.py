"""Tokens for agents of owners. With such a token an agent may play and read, and nothing else."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Engine, select

from arena.errors import Conflict
from arena.store import schema
from arena.store.access.token_holders import TokenHolders
from arena.store.access.tokens import token_hash
from arena.store.bots import owners
from arena.store.database import reading

_AGENTS: Final = TokenHolders(schema.agents, "agent")


def new_agent_token(engine: Engine, owner: str) -> str:
    """Return a new token for the agent of an owner; an earlier one is revoked.

    Raises:
        NotFound: the owner has no token.
    """
    owners.expect_token(engine, owner)
    try:
        return _AGENTS.add(engine, owner)
    except Conflict:
        return _AGENTS.renew(engine, owner)


def owner_of(engine: Engine, token: str) -> str | None:
    """Return the owner of the agent with this token; None if it or the owner's is revoked."""
    agents, held = schema.agents, schema.owners
    query = (
        select(agents.c.name)
        .join(held, held.c.name == agents.c.name)
        .where(agents.c.token == token_hash(token))
    )
    with reading(engine) as connection:
        return connection.execute(query).scalar_one_or_none()
