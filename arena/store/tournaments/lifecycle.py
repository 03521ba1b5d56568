"""The course of a tournament: paused, resumed, cancelled, joined, left, continued, closed.

Who changes a tournament and its matches keeps the tournament from others first
(arena.store.postgresql).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, Engine, func, select, update

from arena.errors import Conflict
from arena.formats.contract import Entrant, Fixture
from arena.store import schema
from arena.store.database import now, reading, writing
from arena.store.postgresql import keep
from arena.store.schema import OPEN, MatchState, TournamentState
from arena.store.tournaments import counts, schedule
from arena.store.tournaments.tournaments import (
    Tournament,
    admit,
    enter,
    find,
    keep_versions,
    not_found,
)


@dataclass(frozen=True, slots=True)
class Marks:
    """What tells whether a tournament has changed: its matches only ever move on."""

    matches: int
    open: int
    closed: int
    entrants: int
    withdrawn: int


def pause(engine: Engine, tournament: str) -> Tournament:
    """Lets no further match begin; matches that are being played are finished.

    Raises:
        NotFound: there is no such tournament.
        Conflict: it is over.
    """
    with writing(engine, "pause") as connection:
        _turn(connection, tournament, TournamentState.PAUSED)
    return find(engine, tournament)


def resume(engine: Engine, tournament: str) -> Tournament:
    """Lets a paused tournament go on. One that runs is left as it is.

    Raises:
        NotFound: there is no such tournament.
        Conflict: it is over.
    """
    with writing(engine, "resume") as connection:
        _turn(connection, tournament, TournamentState.RUNNING)
    return find(engine, tournament)


def cancel(engine: Engine, tournament: str) -> Tournament:
    """Ends it. What is being played now may still be finished, nothing else is begun.

    Raises:
        NotFound: there is no such tournament.
        Conflict: it is over already.
    """
    matches = schema.matches
    with writing(engine, "cancel") as connection:
        _turn(connection, tournament, TournamentState.CANCELLED, ended=now())
        pending = (matches.c.tournament == tournament, matches.c.state == MatchState.PENDING)
        keep(connection, select(matches.c.id).where(*pending).order_by(matches.c.id))
        connection.execute(
            update(matches).where(*pending).values(state=MatchState.CANCELLED, ended=now())
        )
    return find(engine, tournament)


def add(engine: Engine, tournament: str, entries: Sequence[Entrant]) -> Tournament:
    """Lets versions in; they are paired from the next round on.

    Args:
        entries: their names and owners; when they join is filled in.

    Raises:
        NotFound: there is no such tournament or version.
        Conflict: it is over, or one of them plays or played in it, or may enter none.
    """
    table = schema.entrants
    with writing(engine, "join") as connection:
        keep_versions(connection, [entry.name for entry in entries])
        _lock(connection, tournament)
        admit(connection, [entry.name for entry in entries])
        query = select(table.c.version).where(table.c.tournament == tournament)
        there = set(connection.execute(query).scalars())
        for entry in entries:
            if entry.name in there:
                raise Conflict(f"{entry.name} has entered tournament {tournament} already.")
            there.add(entry.name)
        joined = _next_round(connection, tournament)
        made = [replace(entry, joined=joined, withdrawn=None) for entry in entries]
        enter(connection, tournament, made, first=len(there) - len(made))
    return find(engine, tournament)


def withdraw(engine: Engine, tournament: str, version: str, reason: str = "") -> Tournament:
    """Takes an entrant out: it is paired no more, and what it has not begun is cancelled.

    What it is playing now is finished; what it has played counts. One that has been withdrawn
    already stays so.

    Args:
        reason: why, as a clause.

    Raises:
        NotFound: there is no such tournament.
        Conflict: it is over, or the version has not entered it.
    """
    with writing(engine, "withdraw") as connection:
        _lock(connection, tournament)
        leave(connection, tournament, version, reason)
    return find(engine, tournament)


def leave(
    connection: Connection,
    tournament: str,
    version: str,
    reason: str = "",
    into: MatchState = MatchState.CANCELLED,
) -> None:
    """The same within a transaction that has locked the tournament.

    into: the state in which its matches end that have not begun.
    """
    table, matches, sides = schema.entrants, schema.matches, schema.match_entrants
    here = (table.c.tournament == tournament, table.c.version == version)
    entered = connection.execute(select(table.c.withdrawn).where(*here)).one_or_none()
    if entered is None:
        raise Conflict(f"{version} has not entered tournament {tournament}.")
    if entered.withdrawn is None:
        number = _next_round(connection, tournament)
        connection.execute(update(table).where(*here).values(withdrawn=number))
    its = select(sides.c.match).where(sides.c.version == version)
    pending = (
        matches.c.tournament == tournament,
        matches.c.state == MatchState.PENDING,
        matches.c.id.in_(its),
    )
    keep(connection, select(matches.c.id).where(*pending).order_by(matches.c.id))
    connection.execute(
        update(matches)
        .where(*pending)
        .values(
            state=into,
            ended=now(),
            reason=f"{version} was withdrawn" + (f": {reason}" if reason else "."),
        )
    )


def marks(engine: Engine, tournament: str) -> Marks:
    """Where it stands, to be given back with what was concluded from it."""
    with reading(engine) as connection:
        return _marks(connection, tournament)


def extend(engine: Engine, tournament: Tournament, seen: Marks, fixtures: Iterable[Fixture]) -> int:
    """Adds the matches that come next. Returns how many; 0 if it has changed since it was seen.

    All of them are stored or none, once, however many ask for it.
    """
    table = schema.tournaments
    wanted = tuple(fixtures)
    with writing(engine, "extend") as connection:
        found = connection.execute(
            select(table.c.seed, table.c.ended).where(table.c.id == tournament.id).with_for_update()
        ).one_or_none()
        if found is None or found.ended is not None or _marks(connection, tournament.id) != seen:
            return 0
        schedule.store(connection, tournament.id, tournament.plan, wanted, found.seed)
    return len(wanted)


def close(engine: Engine, tournament: str, seen: Marks) -> bool:
    """Closes it, if nothing has changed since it was seen and no match is open."""
    table = schema.tournaments
    with writing(engine, "close") as connection:
        locked = select(table.c.id).where(table.c.id == tournament).with_for_update()
        connection.execute(locked)
        if seen.open or _marks(connection, tournament) != seen:
            return False
        changed = connection.execute(
            update(table)
            .where(table.c.id == tournament, table.c.ended.is_(None))
            .values(state=TournamentState.CLOSED, ended=now())
        )
    return changed.rowcount == 1


def _marks(connection: Connection, tournament: str) -> Marks:
    entrants = schema.entrants
    counted = counts.by_state(connection, tournament)
    there, gone = connection.execute(
        select(func.count(), func.count(entrants.c.withdrawn)).where(
            entrants.c.tournament == tournament
        )
    ).one()
    return Marks(
        matches=sum(count.matches for count in counted.values()),
        open=sum(counted[state].matches for state in OPEN if counted),
        closed=counted[MatchState.CLOSED].matches if counted else 0,
        entrants=there,
        withdrawn=gone,
    )


def _next_round(connection: Connection, tournament: str) -> int:
    matches = schema.matches
    last = select(func.max(matches.c.round)).where(matches.c.tournament == tournament)
    found: int | None = connection.execute(last).scalar()
    return 0 if found is None else found + 1


def _lock(connection: Connection, tournament: str) -> None:
    """Keeps a tournament that is not over from others to the end of the transaction."""
    table = schema.tournaments
    found = connection.execute(
        select(table.c.state, table.c.ended).where(table.c.id == tournament).with_for_update()
    ).one_or_none()
    if found is None:
        raise not_found(tournament)
    if found.ended is not None:
        raise Conflict(
            f"tournament {tournament} is {found.state}; only one that is not over can change."
        )


def _turn(
    connection: Connection,
    tournament: str,
    state: TournamentState,
    **values: ColumnElement[float],
) -> None:
    _lock(connection, tournament)
    table = schema.tournaments
    connection.execute(update(table).where(table.c.id == tournament).values(state=state, **values))
