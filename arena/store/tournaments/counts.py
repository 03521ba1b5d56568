"""Count a tournament's matches by state, without reading the closed ones.

A tournament may have millions of closed matches. Their number is the total in the tournament's row
minus the matches in all other states.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from sqlalchemy import Connection, and_, func, select

from arena.store import schema
from arena.store.schema import MatchState

OTHERS: Final = tuple(state for state in MatchState if state is not MatchState.CLOSED)
"""All states except the one in which most matches end."""


class MatchCount(NamedTuple):
    """A number of matches, and the number of their games."""

    matches: int
    games: int


def by_state(connection: Connection, tournament: str) -> Mapping[MatchState, MatchCount]:
    """Return the count of each state; an empty mapping if the tournament does not exist.

    One statement reads everything, so the counts are consistent.
    """
    table, matches = schema.tournaments, schema.matches
    query = (
        select(
            *table.c["matches", "games"],
            matches.c.state,
            func.count(matches.c.state).label("number"),
            func.coalesce(func.sum(matches.c.games), 0).label("planned"),
        )
        .select_from(
            table.outerjoin(
                matches, and_(matches.c.tournament == table.c.id, matches.c.state.in_(OTHERS))
            )
        )
        .where(table.c.id == tournament)
        .group_by(*table.c["id", "matches", "games"], matches.c.state)
    )
    rows = connection.execute(query).all()
    if not rows:
        return {}
    counts = dict.fromkeys(MatchState, MatchCount(0, 0))
    closed = MatchCount(rows[0].matches, rows[0].games)
    for row in rows:
        if row.state is not None:
            here = counts[MatchState(row.state)] = MatchCount(row.number, int(row.planned))
            closed = MatchCount(closed.matches - here.matches, closed.games - here.games)
    counts[MatchState.CLOSED] = closed
    return counts


def closed(connection: Connection, of: Collection[str]) -> int:
    """Return the number of closed matches of some tournaments, from one consistent state."""
    table, matches = schema.tournaments, schema.matches
    others = select(func.count()).where(matches.c.tournament.in_(of), matches.c.state.in_(OTHERS))
    query = select(func.coalesce(func.sum(table.c.matches), 0) - others.scalar_subquery())
    return int(connection.execute(query.where(table.c.id.in_(of))).scalar_one())
