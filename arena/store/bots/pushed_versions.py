"""Versions that owners have pushed: their bots are not trusted."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Engine, Select, or_, select

from arena.store import schema
from arena.store.database import read_rows
from arena.store.schema import MatchState, TournamentState


def pushed_in(engine: Engine, match: str) -> tuple[str, ...]:
    """Return the pushed versions among the entrants of a match."""
    sides = schema.match_entrants
    query = (
        select(sides.c.version)
        .where(sides.c.match == match, sides.c.version.in_(_pushed()))
        .order_by(sides.c.version)
    )
    return tuple(dict.fromkeys(read_rows(engine, query).scalars()))


def wait_in(engine: Engine, tournament: str) -> bool:
    """Return whether a match with a pushed version is pending in a tournament."""
    matches, sides = schema.matches, schema.match_entrants
    query = (
        select(matches.c.id)
        .join(sides, sides.c.match == matches.c.id)
        .where(
            matches.c.tournament == tournament,
            matches.c.state == MatchState.PENDING,
            sides.c.version.in_(_pushed()),
        )
        .limit(1)
    )
    return read_rows(engine, query).first() is not None


def has_no_pushed_version() -> ColumnElement[bool]:
    """Return the SQL condition that a match has no pushed version, or is due to be cancelled."""
    matches, tournaments, sides = schema.matches, schema.tournaments, schema.match_entrants
    with_pushed = select(sides.c.match).where(
        sides.c.closed.is_(None), sides.c.version.in_(_pushed())
    )
    return or_(tournaments.c.state == TournamentState.CANCELLED, matches.c.id.not_in(with_pushed))


def _pushed() -> Select[str | None]:
    submissions = schema.submissions
    return select(submissions.c.version).where(submissions.c.version.is_not(None))
