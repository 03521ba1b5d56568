"""Look up ids by their first characters, as users type them."""

from typing import Any

from sqlalchemy import Column, Engine, select

from arena.store import schema
from arena.store.database import reading


def matches(engine: Engine, prefix: str, limit: int = 10) -> tuple[str, ...]:
    """Return the match ids with this prefix in ascending order, at most `limit`."""
    return _beginning(engine, schema.matches.c.id, prefix, limit)


def tournaments(engine: Engine, prefix: str, limit: int = 10) -> tuple[str, ...]:
    """Return the tournament ids with this prefix in ascending order, at most `limit`."""
    return _beginning(engine, schema.tournaments.c.id, prefix, limit)


def _beginning(engine: Engine, column: Column[Any], prefix: str, limit: int) -> tuple[str, ...]:
    query = (
        select(column)
        .where(column.startswith(prefix, autoescape=True))
        .order_by(column)
        .limit(limit)
    )
    with reading(engine) as connection:
        return tuple(connection.execute(query).scalars())
