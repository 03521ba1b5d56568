"""Store the analyses of closed matches, which idle workers make from the newest match on.

A worker claims a match for a limited time. The claim of a killed worker lapses, and another worker
begins again. A match is given up after three attempts.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, Engine, delete, insert, select, update

from arena.store import schema
from arena.store.database import now, reading, writing
from arena.store.postgresql import lock_rows

NEWEST: Final = 200
"""Number of newest closed matches that are analysed; older ones without an analysis stay so."""
CLAIM_SECONDS: Final = 3_600.0
"""Time after which an unfinished analysis can be begun again."""
_ATTEMPTS: Final = 3


def claim(engine: Engine, seconds: float = CLAIM_SECONDS) -> str | None:
    """Claim the newest closed match without an analysis; None if all have one.

    Args:
        engine: the store.
        seconds: how long no other worker may claim it.
    """
    results = schema.results
    newest = select(results.c.match).order_by(results.c.closed.desc()).limit(NEWEST)
    with reading(engine) as connection:
        matches = connection.execute(newest).scalars().all()
        begun = _unavailable(connection, matches)
    match: str
    for match in matches:
        if match not in begun and _claim(engine, match, seconds):
            return match
    return None


def _unavailable(connection: Connection, matches: Any) -> set[str]:
    """Return which of these matches are analysed, given up or claimed."""
    analyses = schema.analyses
    query = select(analyses.c.match).where(
        analyses.c.match.in_(matches),
        analyses.c.ended.is_not(None)
        | (analyses.c.claimed_until > now())
        | (analyses.c.attempts >= _ATTEMPTS),
    )
    return set(connection.execute(query).scalars())


def _claim(engine: Engine, match: str, seconds: float) -> bool:
    results, analyses = schema.results, schema.analyses
    with writing(engine, "claim_analysis") as connection:
        lock_rows(connection, select(schema.matches.c.id).where(schema.matches.c.id == match))
        closed = connection.execute(select(results.c.match).where(results.c.match == match))
        if closed.first() is None or _unavailable(connection, [match]):
            return False
        until = now() + seconds
        again = connection.execute(
            update(analyses)
            .where(analyses.c.match == match)
            .values(attempts=analyses.c.attempts + 1, claimed_until=until)
        )
        if not again.rowcount:
            connection.execute(
                insert(analyses).values(match=match, attempts=1, claimed_until=until)
            )
    return True


def finish(engine: Engine, match: str, analysis: dict[str, Any] | None, reason: str = "") -> None:
    """Store a complete analysis, or the reason why it is not possible.

    Nothing happens if the match was voided meanwhile.
    """
    analyses = schema.analyses
    with writing(engine, "store_analysis") as connection:
        connection.execute(
            update(analyses)
            .where(analyses.c.match == match, analyses.c.ended.is_(None))
            .values(analysis=analysis, reason=reason, ended=now())
        )


def find(engine: Engine, match: str) -> dict[str, Any] | None:
    """Return the analysis of a closed match; None before it is stored."""
    analyses, results = schema.analyses, schema.results
    query = (
        select(analyses.c.analysis)
        .join(results, results.c.match == analyses.c.match)
        .where(analyses.c.match == match)
    )
    with reading(engine) as connection:
        analysis: dict[str, Any] | None = connection.execute(query).scalar_one_or_none()
    return analysis


def remove(connection: Connection, match: str) -> None:
    """Delete the analysis of a match that is voided."""
    connection.execute(delete(schema.analyses).where(schema.analyses.c.match == match))
