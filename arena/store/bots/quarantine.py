"""Quarantine: a version that keeps being there when the arena fails is kept from further play.

The arena's failures are charged to nobody, so a bot that takes workers down with it would cost
the others their matches for ever. It is quarantined when matches with it keep failing while
matches without it go well. What fails with everybody fails without it too, and quarantines nobody.
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
from arena.store.postgresql import keep
from arena.store.schema import MatchState
from arena.store.tournaments.lifecycle import leave

FAILED_WITH: Final = 3
"""So many different matches with it have failed since one with it was closed last."""
CLOSED_WITHOUT: Final = 3
"""So many matches without it were closed since the first of those failures."""

log = logging.getLogger("arena.quarantine")


def consider(engine: Engine, match: str) -> tuple[str, ...]:
    """Quarantines those of a match that has just failed whom the rule is met for.

    Also ends what is due with versions that are in quarantine already. Returns who is new there.
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
    found = []
    for version in {*suspects, *known}:
        if _quarantine(engine, version):
            log.warning("%s is in quarantine from now on: %s", version, _reason())
            found.append(version)
    return tuple(sorted(found))


def lift(engine: Engine, version: str) -> Version:
    """Lets a version enter tournaments again; what failed with it until now is forgotten.

    Those it was withdrawn from it does not come back to.

    Raises:
        NotFound: there is no such version.
        Conflict: it is in no quarantine.
    """
    table, failures = schema.versions, schema.failures
    versions.find(engine, version)
    with writing(engine, "lift") as connection:
        lifted = connection.execute(
            update(table)
            .where(table.c.id == version, table.c.quarantined.is_not(None))
            .values(quarantined=None, quarantine_reason=None)
        )
        if lifted.rowcount == 0:
            raise Conflict(f"{version} is not in quarantine.")
        connection.execute(delete(failures).where(failures.c.match.in_(_matches_with(version))))
    return versions.find(engine, version)


def _is_suspect(connection: Connection, version: str) -> bool:
    matches, failures = schema.matches, schema.failures
    with_it = _matches_with(version)
    closed = select(func.coalesce(func.max(matches.c.ended), 0.0)).where(
        matches.c.id.in_(with_it), matches.c.state == MatchState.CLOSED
    )
    failed, since = connection.execute(
        select(func.count(failures.c.match.distinct()), func.min(failures.c.at)).where(
            failures.c.match.in_(with_it), failures.c.at > closed.scalar_subquery()
        )
    ).one()
    if failed < FAILED_WITH:
        return False
    well = connection.execute(
        select(func.count()).where(
            matches.c.state == MatchState.CLOSED,
            matches.c.ended > since,
            matches.c.id.not_in(with_it),
        )
    ).scalar_one()
    return bool(well >= CLOSED_WITHOUT)


def _quarantine(engine: Engine, version: str) -> bool:
    """Does it; false if it was there already. It leaves its tournaments in either case."""
    table, tournaments, entrants = schema.versions, schema.tournaments, schema.entrants
    with writing(engine, "quarantine") as connection:
        # Before the tournaments: nobody lets it into another one meanwhile.
        keep(connection, select(table.c.id).where(table.c.id == version))
        of = select(entrants.c.tournament).where(entrants.c.version == version)
        going_on = connection.execute(
            select(tournaments.c.id)
            .where(tournaments.c.id.in_(of), tournaments.c.ended.is_(None))
            .order_by(tournaments.c.id)
            .with_for_update()
        ).scalars()
        for tournament in list(going_on):
            reason = f"it is in quarantine, for {_reason()}"
            leave(connection, tournament, version, reason, into=MatchState.VOID)
        changed = connection.execute(
            update(table)
            .where(table.c.id == version, table.c.quarantined.is_(None))
            .values(quarantined=now(), quarantine_reason=_reason())
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
