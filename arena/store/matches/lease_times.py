"""SQL conditions for the times of leases and pauses, safe against steps of the database's clock.

A clock that was ahead and is corrected leaves times far in the future. A lease or a pause never
lasts longer than its bound, so a time beyond the bound counts as past.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, and_, or_

from arena.store import schema
from arena.store.database import LONGEST_LEASE_SECONDS, now
from arena.store.schema import MatchState

LEASE_SECONDS: Final = 15.0
LONGEST_PAUSE_SECONDS: Final = 120.0
"""Longest pause after failures of the arena."""


def is_lapsed(at: ColumnElement[Any] | None = None) -> ColumnElement[bool]:
    """Return the condition that a match is RUNNING and its lease has ended.

    Args:
        at: the time; by default the database's clock.
    """
    until, at = schema.matches.c.lease_until, now() if at is None else at
    ended = or_(
        until <= at,
        until > at + LONGEST_LEASE_SECONDS,
        schema.matches.c.leased > at + LEASE_SECONDS,
    )
    return and_(schema.matches.c.state == MatchState.RUNNING, ended)


def is_leased() -> ColumnElement[bool]:
    """Return the condition that a worker holds a valid lease of a match."""
    until = schema.matches.c.lease_until
    return and_(
        schema.matches.c.state == MatchState.RUNNING,
        until > now(),
        until <= now() + LONGEST_LEASE_SECONDS,
    )


def may_be_tried(at: ColumnElement[Any] | None = None) -> ColumnElement[bool]:
    """Return the condition that a match does not pause after failures of the arena.

    Args:
        at: the time; by default the database's clock.
    """
    retry_at, at = schema.matches.c.retry_at, now() if at is None else at
    return or_(retry_at.is_(None), retry_at <= at, retry_at > at + LONGEST_PAUSE_SECONDS)
