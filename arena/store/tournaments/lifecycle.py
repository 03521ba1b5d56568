"""Change the state of a tournament: pause, resume, cancel, add, withdraw, extend, close.

Each function that changes a tournament and its matches locks the tournament first
(`arena.store.postgresql`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, Engine, func, select, update

from arena.errors import Conflict
from arena.formats.contract import Fixture, FormatEntrant, PairingStrengths
from arena.store import closings, schema
from arena.store.database import now, reading, writing
from arena.store.postgresql import lock_rows
from arena.store.schema import OPEN, ClosingKind, MatchState, TournamentState
from arena.store.tournaments import schedule, tournaments
from arena.store.tournaments.tournaments import (
    Tournament,
    admit,
    enter,
    find_tournament,
    keep_versions,
    not_found,
)


@dataclass(frozen=True, slots=True)
class ChangeMarks:
    """Counters that detect every change of a tournament that concerns its format."""

    matches: int
    open: int
    closed: int
    entrants: int
    withdrawn: int


def pause(engine: Engine, tournament: str) -> Tournament:
    """Start no further match; running matches are finished.

    Raises:
        NotFound: the tournament does not exist.
        Conflict: it is over.
    """
    with writing(engine, "pause") as connection:
        _set_state(connection, tournament, TournamentState.PAUSED)
    return find_tournament(engine, tournament)


def resume(engine: Engine, tournament: str) -> Tournament:
    """Continue a paused tournament; a running one does not change.

    Raises:
        NotFound: the tournament does not exist.
        Conflict: it is over.
    """
    with writing(engine, "resume") as connection:
        _set_state(connection, tournament, TournamentState.RUNNING)
    return find_tournament(engine, tournament)


def cancel(engine: Engine, tournament: str) -> Tournament:
    """Cancel a tournament and its pending matches; running matches may still be finished.

    Raises:
        NotFound: the tournament does not exist.
        Conflict: it is over already.
    """
    matches = schema.matches
    with writing(engine, "cancel") as connection:
        _set_state(connection, tournament, TournamentState.CANCELLED, ended=now())
        pending = (matches.c.tournament == tournament, matches.c.state == MatchState.PENDING)
        lock_rows(connection, select(matches.c.id).where(*pending).order_by(matches.c.id))
        connection.execute(
            update(matches).where(*pending).values(state=MatchState.CANCELLED, ended=now())
        )
        closings.add_closing(connection, ClosingKind.TOURNAMENT_ENDED, tournament=tournament)
    return find_tournament(engine, tournament)


def add_entrants(engine: Engine, tournament: str, entries: Sequence[FormatEntrant]) -> Tournament:
    """Add entrants, which are paired from the next round on.

    Args:
        entries: the entrants' names and owners; `joined` is set here.

    Raises:
        NotFound: the tournament or a version does not exist.
        Conflict: the tournament is over, or a version has entered it before, is retired or is in
            quarantine.
    """
    table = schema.entrants
    with writing(engine, "join") as connection:
        keep_versions(connection, [entry.name for entry in entries])
        _lock(connection, tournament)
        admit(connection, [entry.name for entry in entries])
        query = select(table.c.version, table.c.withdrawn).where(table.c.tournament == tournament)
        withdrawn = {row.version: row.withdrawn for row in connection.execute(query)}
        entered = set(withdrawn)
        for entry in entries:
            if withdrawn.get(entry.name) is not None:
                raise Conflict(
                    f"{entry.name} was withdrawn from tournament {tournament}; a version cannot "
                    "enter a tournament twice.",
                    code="withdrawn",
                )
            if entry.name in entered:
                raise Conflict(
                    f"{entry.name} has entered tournament {tournament} already.", code="entered"
                )
            entered.add(entry.name)
        joined = _next_round(connection, tournament)
        joining = [replace(entry, joined=joined, withdrawn=None) for entry in entries]
        enter(connection, tournament, joining, first=len(entered) - len(joining))
    return find_tournament(engine, tournament)


def withdraw(engine: Engine, tournament: str, version: str, reason: str = "") -> Tournament:
    """Withdraw an entrant: it is not paired any more, and its pending matches are cancelled.

    Its running matches are finished and its results count. If it was withdrawn before, the round of
    withdrawal does not change.

    Args:
        version: the entrant as ``name@number``.
        reason: the reason, as a clause.

    Raises:
        NotFound: the tournament does not exist.
        Conflict: it is over, or the version has not entered it.
    """
    with writing(engine, "withdraw") as connection:
        _lock(connection, tournament)
        leave(connection, tournament, version, reason)
    return find_tournament(engine, tournament)


def leave(
    connection: Connection,
    tournament: str,
    version: str,
    reason: str = "",
    into: MatchState = MatchState.CANCELLED,
) -> None:
    """Withdraw an entrant within a transaction that has locked the tournament.

    Args:
        version: the entrant as ``name@number``.
        reason: the reason, as a clause.

    Raises:
        Conflict: the version has not entered the tournament.
    """
    table, matches, sides = schema.entrants, schema.matches, schema.match_entrants
    of_entrant = (table.c.tournament == tournament, table.c.version == version)
    entered = connection.execute(select(table.c.withdrawn).where(*of_entrant)).one_or_none()
    if entered is None:
        raise Conflict(f"{version} has not entered tournament {tournament}.", code="not-entered")
    if entered.withdrawn is None:
        number = _next_round(connection, tournament)
        connection.execute(update(table).where(*of_entrant).values(withdrawn=number))
        closings.add_closing(
            connection, ClosingKind.WITHDRAWN, tournament=tournament, version=version
        )
    of_version = select(sides.c.match).where(sides.c.version == version)
    pending = (
        matches.c.tournament == tournament,
        matches.c.state == MatchState.PENDING,
        matches.c.id.in_(of_version),
    )
    unplayed = select(matches.c.id).where(*pending).order_by(matches.c.id)
    lock_rows(connection, unplayed)
    for match in connection.execute(unplayed).scalars():
        closings.add_closing(
            connection, ClosingKind.MATCH_VOIDED, match=match, tournament=tournament
        )
    connection.execute(
        update(matches)
        .where(*pending)
        .values(
            state=into,
            ended=now(),
            reason=f"{version} was withdrawn" + (f": {reason}" if reason else "."),
        )
    )


def marks(engine: Engine, tournament: str) -> ChangeMarks:
    """Return the current counters, to be passed to `extend` or `close`."""
    with reading(engine) as connection:
        return _marks(connection, tournament)


def extend(
    engine: Engine,
    tournament: Tournament,
    seen: ChangeMarks,
    fixtures: Iterable[Fixture],
    strengths: PairingStrengths | None = None,
) -> int:
    """Add the next matches, all or none; concurrent calls add them only once.

    Args:
        seen: its counters before the matches were computed.
        strengths: the strengths from which they were paired.

    Returns:
        The number of matches added; 0 if the tournament has changed since `seen`.
    """
    table = schema.tournaments
    added = tuple(fixtures)
    with writing(engine, "extend") as connection:
        row = connection.execute(
            select(table.c.seed, table.c.ended).where(table.c.id == tournament.id).with_for_update()
        ).one_or_none()
        if row is None or row.ended is not None or _marks(connection, tournament.id) != seen:
            return 0
        schedule.store_fixtures(connection, tournament.id, tournament.plan, added, row.seed)
        if strengths is not None:
            schedule.store_strengths(connection, tournament.id, added[0].round, strengths)
    return len(added)


def close(engine: Engine, tournament: str, seen: ChangeMarks) -> bool:
    """Close a tournament if it has no open match and is unchanged since `seen`; return success."""
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
        if changed.rowcount:
            closings.add_closing(connection, ClosingKind.TOURNAMENT_ENDED, tournament=tournament)
    return changed.rowcount == 1


def _marks(connection: Connection, tournament: str) -> ChangeMarks:
    entrants = schema.entrants
    counted = tournaments.by_state(connection, tournament)
    entered, gone = connection.execute(
        select(func.count(), func.count(entrants.c.withdrawn)).where(
            entrants.c.tournament == tournament
        )
    ).one()
    return ChangeMarks(
        matches=sum(count.matches for count in counted.values()),
        open=sum(counted[state].matches for state in OPEN if counted),
        closed=counted[MatchState.CLOSED].matches if counted else 0,
        entrants=entered,
        withdrawn=gone,
    )


def _next_round(connection: Connection, tournament: str) -> int:
    matches = schema.matches
    last = select(func.max(matches.c.round)).where(matches.c.tournament == tournament)
    last_round: int | None = connection.execute(last).scalar()
    return 0 if last_round is None else last_round + 1


def _lock(connection: Connection, tournament: str) -> None:
    """Lock a tournament until the transaction ends; raise NotFound, or Conflict if it is over."""
    table = schema.tournaments
    row = connection.execute(
        select(table.c.state, table.c.ended).where(table.c.id == tournament).with_for_update()
    ).one_or_none()
    if row is None:
        raise not_found(tournament)
    if row.ended is not None:
        raise Conflict(
            f"tournament {tournament} is {row.state}; only one that is not over can change.",
            code="tournament-over",
        )


def _set_state(
    connection: Connection,
    tournament: str,
    state: TournamentState,
    **values: ColumnElement[float],
) -> None:
    _lock(connection, tournament)
    table = schema.tournaments
    connection.execute(update(table).where(table.c.id == tournament).values(state=state, **values))
