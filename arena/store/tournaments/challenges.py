"""Limits on challenges: tournaments that owners of bots request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, and_, func, select

from arena.errors import TooMany
from arena.store import schema
from arena.store.database import now, reading
from arena.store.postgresql import lock_decision

FORMAT: Final = "challenge"
_DAY: Final = 86_400
_SOON: Final = 60


@dataclass(frozen=True, slots=True)
class ChallengeLimits:
    """Limits on challenges.

    Attributes:
        a_day: challenges of one owner within 24 hours.
        boards: boards of a challenge.
        per_owner: open challenges of one owner.
        open: open challenges of all owners.
    """

    a_day: int = 10
    boards: int = 20
    per_owner: int = 2
    open: int = 20


def check(connection: Connection, owner: str, limits: ChallengeLimits) -> None:
    """Check that an owner may start a challenge, in the transaction that stores it.

    Raises:
        TooMany: a limit is reached.
    """
    lock_decision(connection, "challenge")
    counted = _counted(connection, owner)
    if counted.own >= limits.per_owner:
        raise TooMany(
            f"{counted.own} challenges of {owner} are open; start the next one when one of them "
            "is over.",
            _SOON,
        )
    if counted.a_day >= limits.a_day:
        raise TooMany(
            f"{owner} has started {counted.a_day} challenges within a day, which is the limit.",
            3600,
        )
    if counted.open >= limits.open:
        raise TooMany(f"{counted.open} challenges are open, which is the limit.", _SOON)


def count_today(engine: Engine, owner: str) -> int:
    """Return the number of challenges that an owner has started within 24 hours."""
    with reading(engine) as connection:
        return int(_counted(connection, owner).a_day)


def _counted(connection: Connection, owner: str) -> Row[*tuple[Any, ...]]:
    """Count the challenges: open ones, those of the owner, and the owner's within 24 hours."""
    table, entrants = schema.tournaments, schema.entrants
    # The challenger is the first entrant.
    challenger = and_(entrants.c.tournament == table.c.id, entrants.c.position == 0)
    mine, is_open = entrants.c.owner == owner, table.c.ended.is_(None)
    return connection.execute(
        select(
            func.count().filter(is_open).label("open"),
            func.count().filter(mine & is_open).label("own"),
            func.count().filter(mine & (table.c.created > now() - _DAY)).label("a_day"),
        )
        .select_from(table.join(entrants, challenger))
        .where(table.c.format == FORMAT)
    ).one()
