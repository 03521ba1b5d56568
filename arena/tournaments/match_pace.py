"""Measure how long matches of a ladder take, and find those that take much longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import ColumnElement, Connection, func, or_, select

from arena.formats.contract import REPLAY, place_of
from arena.store import schema
from arena.store.database import now, read_rows, reading
from arena.store.match_settings import ClockClass, TournamentPlan
from arena.store.schema import OPEN, MatchState
from arena.store.tournaments import tournaments
from referee.presentation.registry import presentation_of

if TYPE_CHECKING:
    from sqlalchemy import Engine

LATE_FACTOR: Final = 2
"""A match is late after this multiple of its expected time."""
LEAST_SECONDS: Final = 30.0
"""The least expected time, for lateness: bots need some seconds to start on a busy machine."""
UNMEASURED_SECONDS: Final = 600.0
"""The expected time of a match of a ladder without closed matches, for lateness."""
_TABLE_SECONDS: Final = 0.5
"""The time to start the bots of a table."""
_RECENT: Final = 200


def seconds_per_game(engine: Engine | None, plan: TournamentPlan) -> tuple[float, int]:
    """Return the seconds that one worker needs for a game, and the number of matches measured.

    Measured are the most recent matches (at most 200) of the same form and clock class that closed
    at their first attempt. Without any, the time is a default from measurements of the house bots,
    and the number is 0.
    """
    guess = presentation_of(plan.game).seconds + _TABLE_SECONDS / plan.boards
    if engine is None:
        return guess, 0
    with reading(engine) as connection:
        ladder = f"{plan.form}~{plan.clock.clock_class}"
        same_ladder = tournaments.ids_of_ladder(connection, ladder)
    matches = schema.matches
    recent = (
        select((matches.c.ended - matches.c.leased).label("seconds"), matches.c.games)
        .where(matches.c.state == MatchState.CLOSED, matches.c.attempt == 1)
        .where(matches.c.tournament.in_(same_ladder))
        .order_by(matches.c.ended.desc())
        .limit(_RECENT)
        .subquery()
    )
    query = select(func.count(), func.sum(recent.c.seconds), func.sum(recent.c.games))
    number, seconds, played = read_rows(engine, query).one()
    return (seconds / played, number) if number else (guess, 0)


def late_places(
    engine: Engine, tournament: str, plan: TournamentPlan
) -> frozenset[tuple[int, int]]:
    """Return the places of matches that a ladder does not wait for.

    They belong to the clock class `slow` or `model`, are played or pause after a failure of the
    arena, and began more than `LATE_FACTOR` times the expected time ago. A match of class `fast` is
    never late: it is bounded by its clock, and its ladder depends on results alone.
    """
    if plan.clock.clock_class is ClockClass.FAST:
        return frozenset()
    with reading(engine) as connection:
        # Most matches are younger than the shortest time, so that no pace has to be read.
        if not _begun(connection, tournament, LATE_FACTOR * LEAST_SECONDS):
            return frozenset()
    pace, measured = seconds_per_game(engine, plan)
    expected = max(pace * plan.boards * plan.sides, LEAST_SECONDS)
    expected = expected if measured else UNMEASURED_SECONDS
    with reading(engine) as connection:
        return _begun(connection, tournament, LATE_FACTOR * expected)


def passed_places(connection: Connection, tournament: str) -> frozenset[tuple[int, int]]:
    """Return the places of the open matches, except replays, for which a round did not wait.

    They stay late, so that a stored schedule shows which matches are late without any times.
    """
    table = schema.matches
    newest = select(func.max(table.c.round)).where(table.c.tournament == tournament)
    return _places(
        connection,
        table.c.tournament == tournament,
        table.c.state.in_(OPEN),
        table.c.number < REPLAY,
        table.c.round < newest.scalar_subquery() - 1,
    )


def _begun(connection: Connection, tournament: str, ago: float) -> frozenset[tuple[int, int]]:
    """Return the places of the open matches whose present attempt began this many seconds ago."""
    table = schema.matches
    return _places(
        connection,
        table.c.tournament == tournament,
        or_(
            (table.c.state == MatchState.RUNNING) & (table.c.lease_until > now()),
            (table.c.state == MatchState.PENDING) & (table.c.retry_at > now()),
        ),
        table.c.leased < now() - ago,
    )


def _places(connection: Connection, *conditions: ColumnElement[bool]) -> frozenset[tuple[int, int]]:
    table = schema.matches
    query = select(table.c.round, table.c.number).where(*conditions)
    return frozenset(place_of(row.round, row.number) for row in connection.execute(query))
