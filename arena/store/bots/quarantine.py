"""Quarantine versions whose matches repeatedly end in failures of the arena.

Failures of the arena are not charged to bots, so a bot that crashes workers would void its
opponents' matches again and again. A version is quarantined when matches with it keep failing while
matches without it close. A failure of the whole arena also affects matches without the version, so
it does not cause a quarantine. Only failures that count towards a void match count here: not those
of killed or lost workers, and not those of a worker that fails in every match.
"""

from __future__ import annotations

import logging
from typing import Final

from sqlalchemy import Connection, Engine, Select, delete, func, select, update

from arena.errors import Conflict
from arena.store import schema
from arena.store.bots import versions
from arena.store.bots.versions import Version
from arena.store.database import now, reading, writing
from arena.store.postgresql import lock_rows
from arena.store.schema import MatchState
from arena.store.tournaments.lifecycle import leave

FAILED_WITH: Final = 3
"""Number of different failed matches with a version, since one with it closed, for a quarantine."""
CLOSED_WITHOUT: Final = 3
"""Number of matches without it that must have closed since the first of those failures."""

log = logging.getLogger("arena.quarantine")


def quarantine_failing(engine: Engine, match: str) -> tuple[str, ...]:
    """Quarantine the entrants of a failed match that satisfy the rule; return these, sorted.

    Entrants that were in quarantine before are withdrawn from their tournaments again, which voids
    their pending matches.
    """
    sides, table = schema.match_entrants, schema.versions
    with reading(engine) as connection:
        entrants = connection.execute(
            select(*table.c["id", "quarantined"])
            .join(sides, sides.c.version == table.c.id)
            .where(sides.c.match == match)
            .order_by(sides.c.position)
        ).all()
        suspects = [row.id for row in entrants if _is_suspect(connection, row.id)]
    known = [row.id for row in entrants if row.quarantined is not None]
    affected = []
    for version in {*suspects, *known}:
        if _quarantine(engine, version):
            log.warning("%s is in quarantine from now on: %s", version, _reason())
            affected.append(version)
    return tuple(sorted(affected))


def lift(engine: Engine, version: str) -> Version:
    """End the quarantine of a version and delete its recorded failures.

    It may enter tournaments again, but it does not return to those from which it was withdrawn.

    Raises:
        NotFound: the version does not exist.
        Conflict: it is not in quarantine.
    """
    table, failures = schema.versions, schema.failures
    versions.find_version(engine, version)
    with writing(engine, "lift") as connection:
        lifted = connection.execute(
            update(table)
            .where(table.c.id == version, table.c.quarantined.is_not(None))
            .values(quarantined=None, quarantine_reason=None)
        )
        if lifted.rowcount == 0:
            raise Conflict(f"{version} is not in quarantine.", code="not-in-quarantine")
        connection.execute(delete(failures).where(failures.c.match.in_(_matches_with(version))))
    return versions.find_version(engine, version)


def _is_suspect(connection: Connection, version: str) -> bool:
    failures = schema.failures
    with_it = _matches_with(version)
    sides = schema.match_entrants
    closed = select(func.coalesce(func.max(sides.c.closed), 0.0)).where(sides.c.version == version)
    failed, since = connection.execute(
        select(func.count(failures.c.match.distinct()), func.min(failures.c.at)).where(
            failures.c.match.in_(with_it),
            failures.c.counted == 1,
            failures.c.at > closed.scalar_subquery(),
        )
    ).one()
    if failed < FAILED_WITH:
        return False
    # None of them is with it, because its last match closed before `since`. The order makes
    # PostgreSQL use the index of closing times.
    results = schema.results
    well = connection.execute(
        select(results.c.match)
        .where(results.c.closed > since)
        .order_by(results.c.closed.desc())
        .limit(CLOSED_WITHOUT)
    ).all()
    return len(well) >= CLOSED_WITHOUT


def ban(engine: Engine, version: str, reason: str) -> Version:
    """Exclude a version from all tournaments until it is released (`lift`); its results stay.

    Args:
        version: ``name@number``.
        reason: the reason, as a clause.

    Raises:
        NotFound: the version does not exist.
        Conflict: it is banned or in quarantine already.
    """
    versions.find_version(engine, version)
    with writing(engine, "ban") as connection:
        if not _exclude(connection, version, f"the organiser banned it: {reason}"):
            raise Conflict(f"{version} is in quarantine already.", code="in-quarantine")
    return versions.find_version(engine, version)


def _quarantine(engine: Engine, version: str) -> bool:
    """Withdraw a version from its tournaments and mark it; return False if it was marked before."""
    with writing(engine, "quarantine") as connection:
        return _exclude(connection, version, _reason())


def _exclude(connection: Connection, version: str, reason: str) -> bool:
    table, tournaments, entrants = schema.versions, schema.tournaments, schema.entrants
    # Lock the version before the tournaments: it must not enter another one meanwhile.
    lock_rows(connection, select(table.c.id).where(table.c.id == version))
    of = select(entrants.c.tournament).where(entrants.c.version == version)
    going_on = connection.execute(
        select(tournaments.c.id)
        .where(tournaments.c.id.in_(of), tournaments.c.ended.is_(None))
        .order_by(tournaments.c.id)
        .with_for_update()
    ).scalars()
    for tournament in list(going_on):
        clause = f"it is in quarantine, for {reason}"
        leave(connection, tournament, version, clause, into=MatchState.VOID)
    changed = connection.execute(
        update(table)
        .where(table.c.id == version, table.c.quarantined.is_(None))
        .values(quarantined=now(), quarantine_reason=reason)
    )
    return changed.rowcount == 1


def _reason() -> str:
    return (
        f"the arena failed in {FAILED_WITH} matches with it one after the other, and in none of "
        f"{CLOSED_WITHOUT} without it."
    )


def _matches_with(version: str) -> Select[tuple[str]]:
    sides = schema.match_entrants
    return select(sides.c.match).where(sides.c.version == version)
