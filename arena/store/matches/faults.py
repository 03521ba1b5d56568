"""List the faults of some versions in finished matches, newest first, by page."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Engine, Select, func, select

from arena.store import schema
from arena.store.database import reading
from arena.store.matches.results import LoggedFault
from arena.store.schema import OPEN


def kinds(engine: Engine, of: Collection[str]) -> dict[str, int]:
    """Count the faults of some versions by verdict, the most frequent first.

    Args:
        engine: the store.
        of: versions as ``name@number``.
    """
    table = schema.faults
    query = _chosen(select(table.c.verdict, func.count()), of, "").group_by(table.c.verdict)
    with reading(engine) as connection:
        counts = [(str(word), int(count)) for word, count in connection.execute(query)]
    return dict(sorted(counts, key=lambda each: (-each[1], each[0])))


def faults(
    engine: Engine, of: Collection[str], kind: str = "", offset: int = 0, limit: int = 50
) -> tuple[LoggedFault, ...]:
    """Return a page of the faults of some versions.

    Args:
        engine: the store.
        of: versions as ``name@number``.
        kind: only faults with this verdict; empty: all.
        offset: number of faults to skip.
        limit: maximum number of faults.
    """
    table, matches = schema.faults, schema.matches
    columns = [name for name in LoggedFault.__slots__ if name != "tournament"]
    query = _chosen(select(matches.c.tournament, *(table.c[name] for name in columns)), of, kind)
    query = query.order_by(matches.c.ended.desc(), table.c.match, table.c.game, table.c.number)
    with reading(engine) as connection:
        rows = connection.execute(query.offset(offset).limit(limit)).all()
    return tuple(LoggedFault(**row._mapping) for row in rows)


def _chosen(query: Select[Any], of: Collection[str], kind: str) -> Select[Any]:
    table, matches = schema.faults, schema.matches
    query = query.select_from(table.join(matches, matches.c.id == table.c.match)).where(
        table.c.version.in_(of), matches.c.state.not_in(OPEN)
    )
    return query.where(table.c.verdict == kind) if kind else query
