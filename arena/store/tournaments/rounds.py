"""End times of tournament rounds, and numbers of matches and entrants over several tournaments."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine, case, func, select

from arena.store import schema
from arena.store.database import now, reading
from arena.store.schema import OPEN


def ends(engine: Engine, of: Sequence[str]) -> tuple[float, ...]:
    """Return the end of each round of some tournaments, ascending: when its last match closed.

    A round is over when none of its matches can be played any more. A round without a closed match
    is omitted. Rounds that ended at the same time appear once.
    """
    matches, results = schema.matches, schema.results
    query = (
        select(func.max(results.c.closed))
        .select_from(matches.outerjoin(results, results.c.match == matches.c.id))
        .where(matches.c.tournament.in_(of))
        .group_by(matches.c.tournament, matches.c.round)
        .having(func.sum(case((matches.c.state.in_(OPEN), 1), else_=0)) == 0)
    )
    with reading(engine) as connection:
        times = connection.execute(query).scalars()
        return tuple(sorted({float(at) for at in times if at is not None}))


def clock(engine: Engine) -> float:
    """Return the database's time in seconds since 1970."""
    with reading(engine) as connection:
        return float(connection.execute(select(now())).scalar_one())


def closed(engine: Engine, of: Sequence[str], until: float) -> int:
    """Return how many matches of some tournaments had closed at a time."""
    matches, results = schema.matches, schema.results
    query = (
        select(func.count())
        .select_from(results.join(matches, matches.c.id == results.c.match))
        .where(matches.c.tournament.in_(of), results.c.closed <= until)
    )
    with reading(engine) as connection:
        return int(connection.execute(query).scalar_one())


def entrants(engine: Engine, of: Sequence[str]) -> int:
    """Return how many different versions entered some tournaments."""
    table = schema.entrants
    query = select(func.count(table.c.version.distinct())).where(table.c.tournament.in_(of))
    with reading(engine) as connection:
        return int(connection.execute(query).scalar_one())
