"""Corrections of results by an organiser: void, replay or decide matches, disqualify entrants.

Ratings are sums over the results, so the next read of a ladder computes it again without the void
matches. The readers notice a correction by the audit log (`audit_log.corrections`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, delete, select, update

from arena.errors import Conflict
from arena.formats import contract
from arena.formats.contract import Fixture
from arena.store import closings, schema, tasks
from arena.store.access import audit_log
from arena.store.access.audit_log import DISQUALIFY, FORFEIT, REPLAY, VOID, Actor, AuditEntry
from arena.store.database import now, writing
from arena.store.matches import listing
from arena.store.matches.listing import Match, not_found
from arena.store.postgresql import lock_rows
from arena.store.schema import OPEN, ClosingKind, MatchState, TaskKind
from arena.store.tournaments import lifecycle, schedule, tournaments

_REPLAYABLE: Final = (MatchState.RUNNING, MatchState.CLOSED, MatchState.VOID)


def void(engine: Engine, match: str, actor: Actor, reason: str) -> None:
    """Void a match that is open or closed. Its games stay stored and can be replayed.

    Args:
        actor: the organiser, for the audit log.
        reason: the reason, as a clause.

    Raises:
        NotFound: the match does not exist.
        Conflict: it is void or cancelled already, or decided who plays in a later round.
    """
    with writing(engine, "void_closed") as connection:
        tournament, state = _lock_match(connection, match)
        _void(connection, tournament.id, [match], f"the organiser voided it: {reason}")
        audit_log.insert(connection, AuditEntry(actor, VOID, match, reason, {"state": state}))


def forfeit(engine: Engine, match: str, loser: str, actor: Actor, reason: str) -> None:
    """Decide a match against an entrant: void it, but let its tournament count it as lost.

    Ratings do not count it, since nothing was played.

    Args:
        loser: the entrant that loses it, as ``name@number``.
        actor: the organiser, for the audit log.
        reason: the reason, as a clause.

    Raises:
        NotFound: the match does not exist.
        Conflict: the entrant does not play in it; it is void or cancelled already, or a later round
            follows from it; its tournament is over, or has a format without a ranking of its own.
    """
    table, stored = schema.matches, listing.find_match(engine, match)
    with writing(engine, "forfeit") as connection:
        tournament, state = _lock_match(connection, match)
        _check_forfeitable(connection, tournament, stored, loser)
        clause = f"{loser} forfeits it: {reason}"
        _void(connection, tournament.id, [match], clause)
        connection.execute(update(table).where(table.c.id == match).values(forfeited_by=loser))
        details = {"state": state, "version": loser}
        audit_log.insert(connection, AuditEntry(actor, FORFEIT, match, reason, details))


def _lock_match(connection: Connection, match: str) -> tuple[Row[Any], MatchState]:
    """Lock a match that can be voided, and its tournament; return this and the match's state."""
    table = schema.matches
    place = connection.execute(
        select(*table.c["tournament", "round"]).where(table.c.id == match)
    ).one_or_none()
    if place is None:
        raise not_found(match)
    tournament = _lock(connection, place.tournament)
    _check_later_rounds(connection, tournament, place.round)
    lock_rows(connection, select(table.c.id).where(table.c.id == match))
    state = connection.execute(select(table.c.state).where(table.c.id == match)).scalar_one()
    if state not in (*OPEN, MatchState.CLOSED):
        raise Conflict(f"the match {match} is {state.lower()} already.", code="match-over")
    return tournament, MatchState(state)


def _check_forfeitable(
    connection: Connection, tournament: Row[Any], match: Match, loser: str
) -> None:
    """Check that a match can be decided against an entrant."""
    if loser not in match.entrants:
        names = " and ".join(match.entrants)
        raise Conflict(f"{loser} does not play in {match.id}; {names} do.", code="no-entrant")
    if tournament.format not in contract.FORFEITABLE:
        raise Conflict(
            f"tournament {tournament.id} is a {tournament.format}, which is decided by ratings, "
            "and those count only played games; void the match instead.",
            code="rated-format",
        )
    _check_not_over(tournament)
    if tournament.format == "swiss" and _has_later_round(connection, tournament, match.round):
        raise Conflict(
            f"a later round of {tournament.id} was paired with the result of {match.id}.",
            code="later-rounds",
        )


def replay(engine: Engine, match: str, actor: Actor, reason: str) -> str:
    """Void a match and schedule it again with another seed; return the id of the new match.

    The void match keeps its games, and its seed if it was published. A match that is void already
    can be replayed, too.

    Args:
        actor: the organiser, for the audit log.
        reason: the reason, as a clause.

    Raises:
        NotFound: the match does not exist.
        Conflict: it has not begun or is cancelled, has a replay, or decided who plays in a later
            round; its tournament is over; or an entrant has withdrawn.
    """
    table, stored = schema.matches, listing.find_match(engine, match)
    plan = tournaments.find_tournament(engine, stored.tournament).plan
    number = stored.number + contract.REPLAY
    again = Fixture(stored.round, number, stored.entrants, stored.why)
    with writing(engine, "replay") as connection:
        tournament = _lock(connection, stored.tournament)
        _check_later_rounds(connection, tournament, stored.round)
        lock_rows(connection, select(table.c.id).where(table.c.id == match))
        state = connection.execute(select(table.c.state).where(table.c.id == match)).scalar_one()
        _check_replayable(connection, tournament, stored, state)
        (new,) = schedule.store_fixtures(connection, tournament.id, plan, [again], tournament.seed)
        _void(connection, tournament.id, [match], f"the organiser replays it as {new}: {reason}")
        details = {"state": state, "replay": new}
        audit_log.insert(connection, AuditEntry(actor, REPLAY, match, reason, details))
    return new


def _check_replayable(
    connection: Connection, tournament: Row[Any], match: Match, state: MatchState
) -> None:
    """Check that a match can be played again now."""
    _check_not_over(tournament)
    if state not in _REPLAYABLE:
        raise Conflict(
            f"the match {match.id} is {state.lower()}, so it cannot be replayed; only a match that "
            "has begun can.",
            code="not-played",
        )
    table, entered = schema.matches, schema.entrants
    replayed = connection.execute(
        select(table.c.id).where(
            table.c.tournament == tournament.id,
            table.c.round == match.round,
            table.c.number == match.number + contract.REPLAY,
        )
    ).scalar_one_or_none()
    if replayed is not None:
        raise Conflict(f"the match {match.id} is replayed as {replayed} already.", code="replayed")
    withdrawn = connection.execute(
        select(entered.c.version).where(
            entered.c.tournament == tournament.id,
            entered.c.version.in_(match.entrants),
            entered.c.withdrawn.is_not(None),
        )
    ).first()
    if withdrawn is not None:
        raise Conflict(
            f"{withdrawn.version} has withdrawn from tournament {tournament.id}.", code="withdrawn"
        )


def _check_not_over(tournament: Row[Any]) -> None:
    """Check that matches of a tournament can still be replayed or decided."""
    if tournament.ended is not None:
        raise Conflict(
            f"tournament {tournament.id} is {tournament.state}, so no match of it can be replayed "
            "or decided; void the match, or create another tournament.",
            code="tournament-over",
        )


def disqualify(
    engine: Engine, tournament: str, version: str, actor: Actor, reason: str
) -> tuple[str, ...]:
    """Withdraw an entrant from a tournament and void all its matches there; return their ids.

    Args:
        version: the entrant as ``name@number``.
        actor: the organiser, for the audit log.
        reason: the reason, as a clause.

    Raises:
        NotFound: the tournament does not exist.
        Conflict: the version has not entered it, or its matches decided who plays in later rounds.
    """
    matches, sides = schema.matches, schema.match_entrants
    clause = f"{version} was disqualified: {reason}"
    with writing(engine, "disqualify") as connection:
        lock_rows(connection, select(schema.versions.c.id).where(schema.versions.c.id == version))
        row = _lock(connection, tournament)
        lifecycle.leave(connection, tournament, version, f"disqualified: {reason}", MatchState.VOID)
        of_version = select(sides.c.match).where(sides.c.version == version)
        query = (
            select(*matches.c["id", "round"])
            .where(
                matches.c.tournament == tournament,
                matches.c.id.in_(of_version),
                matches.c.state.in_((MatchState.RUNNING, MatchState.CLOSED)),
            )
            .order_by(matches.c.id)
        )
        lock_rows(connection, query)
        played = connection.execute(query).all()
        for match in played:
            _check_later_rounds(connection, row, match.round)
        voided = [match.id for match in played]
        _void(connection, tournament, voided, clause)
        details = {"version": version, "matches": voided}
        audit_log.insert(connection, AuditEntry(actor, DISQUALIFY, tournament, reason, details))
    return tuple(voided)


def _lock(connection: Connection, tournament: str) -> Row[Any]:
    table = schema.tournaments
    row = connection.execute(
        select(*table.c["id", "format", "state", "ended", "seed"])
        .where(table.c.id == tournament)
        .with_for_update()
    ).one_or_none()
    if row is None:
        raise tournaments.not_found(tournament)
    return row


def _check_later_rounds(connection: Connection, tournament: Row[Any], number: int) -> None:
    """Check that no later round of a knockout follows from the results of this one."""
    if tournament.format == "knockout" and _has_later_round(connection, tournament, number):
        raise Conflict(
            f"a later round of the knockout {tournament.id} follows from this result; cancel the "
            "tournament and begin another one.",
            code="later-rounds",
        )


def _has_later_round(connection: Connection, tournament: Row[Any], number: int) -> bool:
    matches = schema.matches
    later = select(matches.c.id).where(
        matches.c.tournament == tournament.id, matches.c.round > number
    )
    return connection.execute(later.limit(1)).first() is not None


def _void(connection: Connection, tournament: str, ids: Sequence[str], reason: str) -> None:
    matches, results, sides = schema.matches, schema.results, schema.match_entrants
    tags = schema.match_tags
    for match in ids:
        connection.execute(delete(tags).where(tags.c.match == match))
        connection.execute(delete(results).where(results.c.match == match))
        tasks.remove_queues(connection, tuple(TaskKind), [match])
        connection.execute(update(sides).where(sides.c.match == match).values(closed=None))
        connection.execute(
            update(matches)
            .where(matches.c.id == match)
            .values(state=MatchState.VOID, reason=reason, owner=None, lease_until=None, ended=now())
        )
        closings.add_closing(
            connection, ClosingKind.MATCH_VOIDED, match=match, tournament=tournament
        )
