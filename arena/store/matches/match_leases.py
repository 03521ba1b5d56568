"""Leases of matches: a match is leased, played game by game, and closed once.

    PENDING --lease--> RUNNING --last game--> CLOSED
       ^                  |
       '---- release -----'

| function | transition |
| --- | --- |
| `lease` | PENDING to RUNNING; if the earlier lease has lapsed, RUNNING to its next attempt |
| `renew`, `end_leases` | none: they move the end of the lease |
| `commit_game` | none; with the last game RUNNING to CLOSED |
| `release` | RUNNING to PENDING |
| `void` | PENDING or RUNNING to VOID |

In a cancelled tournament `lease` and `release` change the match to CANCELLED. After a failure of
the arena the match pauses; after too many (`_record_failure`) `release` changes it to VOID.

The attempt number is the fencing token: each lease gets the next number, and only the newest lease
may write, until it lapses. All times are the database's, so the workers' clocks do not matter.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    Engine,
    Integer,
    Row,
    Select,
    Update,
    and_,
    bindparam,
    case,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from arena.errors import Conflict, LeaseLost
from arena.ratings.closed_match import PlayedGame
from arena.store import closings, schema
from arena.store.bots import pushed_versions, quarantine
from arena.store.database import announce, is_current, now, read_rows, writing
from arena.store.events.messages import GameOver, MatchClosed, MatchStarted
from arena.store.match_settings import LONGEST_SLOW_MS
from arena.store.matches import lease_times, offline_bot_waits, rows
from arena.store.matches.lease_times import LEASE_SECONDS, LONGEST_PAUSE_SECONDS
from arena.store.matches.listing import not_found
from arena.store.matches.spec import MatchSpec
from arena.store.postgresql import lock_rows
from arena.store.schema import OPEN, ClosingKind, MatchState, TournamentState
from arena.store.tournaments import challenges
from arena.system import failpoint
from referee.games.registry import find_game
from referee.games.shared.coded_errors import InvalidValue
from referee.numbering import game_text
from referee.sanitizing import one_line

log = logging.getLogger("arena.worker")

LADDER_TURN: Final = 3
"""Matches of tournaments that end between two matches of ladders, while both are due.

A ladder always has due matches. Without this order, a new tournament would wait for all of them.
"""
_NOT_URGENT: Final = 2
FAILURES_TO_VOID: Final = 3
"""Consecutive failures of the arena, without a committed game between them, that void a match.

They must be on two machines or span `_SPAN_TO_VOID_SECONDS`.
"""
_SPAN_TO_VOID_SECONDS: Final = 600.0
_FIRST_PAUSE_SECONDS: Final = 1.0
_CLOSING_KINDS: Final = {
    MatchState.CLOSED: ClosingKind.MATCH_CLOSED,
    MatchState.VOID: ClosingKind.MATCH_VOIDED,
}


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of a worker to play a match and to commit its games, while it is renewed."""

    match: str
    owner: str
    attempt: int
    seconds: float
    """Duration from the start and from each renewal."""
    spec: MatchSpec
    committed: tuple[PlayedGame, ...]
    """Games committed by earlier attempts, in order of their numbers; they remain valid."""


@dataclass(frozen=True, slots=True)
class DueMatches:
    """The ids of due matches, in the order in which workers should take them.

    Attributes:
        urgent: matches that another attempt has begun, then challenges. They precede all others,
            even those that wait already.
        others: a match of a ladder, which never ends, follows after `LADDER_TURN` matches of
            tournaments that end. Both kinds: the next match of each tournament in turn, the oldest
            tournament first.
    """

    urgent: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArenaFault:
    """A failure of the arena that ended an attempt.

    Attributes:
        reason: a sentence; further lines are details for the organiser, which are not published.
        machine: host name of the worker's machine.
        counts: whether it counts towards a void match and the quarantine of a version: not if a
            process was killed, or if the worker fails in every match.
    """

    reason: str
    machine: str = ""
    counts: bool = True


def due(engine: Engine, limit: int = 1000) -> tuple[str, ...]:
    """Return the matches of `due_by_urgency`, the urgent ones first."""
    matches = due_by_urgency(engine, limit)
    return matches.urgent + matches.others


def due_by_urgency(
    engine: Engine,
    limit: int = 1000,
    *,
    pushed: bool = True,
    without: Sequence[str] = (),
    models: bool | None = None,
) -> DueMatches:
    """Return the matches that a worker should try to lease now.

    A match is due if its tournament runs, it does not wait for a remote bot, and no worker holds
    its lease. A match of a cancelled tournament whose worker was lost is also returned: the
    attempt to lease it cancels it.

    The tournaments take turns, so that one with thousands of due matches does not fill the limit.
    A challenge has a single match. A tournament of its format with more matches has no priority.

    Args:
        pushed: whether matches with pushed versions are included.
        without: games whose matches are not included.
        models: whether only matches of the clock class `model`, or only others, are included.
    """
    parameters = {"limit": limit, "without": list(without)}
    rows = read_rows(engine, _due_query(pushed, models), parameters).all()
    urgent = tuple(row.id for row in rows if row.urgency < _NOT_URGENT)
    return DueMatches(urgent, tuple(row.id for row in rows[len(urgent) :]))


def has_model_clock() -> ColumnElement[bool]:
    """Return the condition that a tournament is of the clock class `model`."""
    allowance_ms, bank_ms = LONGEST_SLOW_MS
    tournaments = schema.tournaments
    return or_(tournaments.c.allowance_ms > allowance_ms, tournaments.c.bank_ms > bank_ms)


def lease(
    engine: Engine,
    match: str,
    owner: str,
    seconds: float = LEASE_SECONDS,
    check: Callable[[str], object] = find_game,
) -> Lease | None:
    """Lease a match if it is due; None if it is not, so a late or duplicate job is harmless.

    None as well if the database was upgraded to a newer release (`database.refuse_newer`).

    Taking a match whose lease has lapsed records a failure of the arena, which does not count
    towards a void match, because the worker was killed or cut off.

    Args:
        check: raises SetupError for a game that must not be played here.

    Raises:
        SetupError: the match waits for a machine that has its game.
    """
    with writing(engine, "lease") as connection:
        row = _lock_if_due(connection, match)
        if row is None:
            return None
        if row.tournament_state == TournamentState.CANCELLED:
            _end_match(connection, row, MatchState.CANCELLED)
            return None
        check(row.game)
        lost = row.state == MatchState.RUNNING
        if lost:
            reason = f"the worker {row.owner} that had it was lost"
            _record_failure(connection, row, ArenaFault(reason, counts=False))
        values = {"new_attempt": row.attempt + 1, "new_owner": owner, "seconds": seconds}
        connection.execute(_lease_update(), {"of_match": match, **values})
        announce(connection, MatchStarted(match, row.tournament or "", row.attempt + 1))
        spec = rows.spec_of(connection, row)
        committed = rows.committed(connection, match) if row.attempt else ()
    if lost:
        _quarantine_failing_bots(engine, match)
    return Lease(match, owner, row.attempt + 1, seconds, spec, committed)


def renew(engine: Engine, lease: Lease) -> bool:
    """Extend a lease to `lease.seconds` from now; False if it is lost.

    A lapsed lease is lost even if no other worker has taken the match. On a machine that could not
    renew for so long, the bots' decision times may not have been measured fairly.
    """
    values = {"of_match": lease.match, "of_attempt": lease.attempt, "seconds": lease.seconds}
    with writing(engine, "renew") as connection:
        held = connection.execute(_renewal(), values)
    return held.rowcount == 1


def end_leases(engine: Engine, owner: str) -> int:
    """End the leases of a dead worker at once, before they lapse; return their number.

    Args:
        owner: the worker's name, which must belong to one process only.
    """
    matches = schema.matches
    of_owner = (matches.c.state == MatchState.RUNNING, matches.c.owner == owner)
    with writing(engine, "end_leases") as connection:
        lock_rows(connection, select(matches.c.id).where(*of_owner).order_by(matches.c.id))
        held = connection.execute(update(matches).where(*of_owner).values(lease_until=now()))
    return held.rowcount


def commit_game(engine: Engine, lease: Lease, game: PlayedGame) -> bool:
    """Commit a game with its faults in one transaction; return whether it closed the match.

    Raises:
        LeaseLost: another attempt holds the match, the match is over, or the lease has lapsed.
        Conflict: the game is committed already.
        ValueError: the game does not belong to this match.
    """
    _check_belongs_to_match(lease.spec, game)
    with writing(engine, "commit_game") as connection:
        row = _lock(connection, lease.match, _has_valid_lease, of_attempt=lease.attempt)
        if row is None:
            raise _lease_lost(connection, lease)
        numbers = rows.game_numbers(connection, lease.match)
        if game.game in numbers:
            raise Conflict(
                f"{game_text(game.game)} of match {lease.match} is committed already.",
                code="game-committed",
            )
        rows.insert_game(connection, lease.match, lease.attempt, game)
        done = len(numbers) + 1
        announce(connection, GameOver(lease.match, done, row.games))
        if done < row.games:
            return False
        rows.insert_result(connection, lease.match, lease.attempt)
        _end_match(connection, row, MatchState.CLOSED)
        announce(connection, MatchClosed(lease.match, row.tournament or ""))
        failpoint.edge("closing_game", "written")
    failpoint.edge("closing_game", "committed")
    return True


def release(engine: Engine, lease: Lease, fault: ArenaFault | None = None) -> None:
    """End a lease at once and keep the committed games; does nothing if the lease is lost.

    Args:
        fault: the failure of the arena that ended this attempt. It can void the match. None: the
            worker just stops.
    """
    matches = schema.matches
    with writing(engine, "release") as connection:
        # Without this lock the match could become due in a tournament that is being cancelled.
        tournament = (
            select(matches.c.tournament).where(matches.c.id == lease.match).scalar_subquery()
        )
        tournaments = schema.tournaments
        lock_rows(
            connection, select(tournaments.c.id).where(tournaments.c.id == tournament), shared=True
        )
        row = _lock(connection, lease.match, _has_newest_attempt, of_attempt=lease.attempt)
        if row is None:
            return
        is_void = fault is not None and _record_failure(connection, row, fault)
        if is_void:
            pass
        elif row.tournament_state == TournamentState.CANCELLED:
            _end_match(connection, row, MatchState.CANCELLED)
        else:
            connection.execute(
                update(matches)
                .where(matches.c.id == lease.match)
                .values(state=MatchState.PENDING, owner=None, lease_until=None)
            )
    if fault is not None:
        _quarantine_failing_bots(engine, lease.match)


def void(engine: Engine, match: str, reason: str) -> bool:
    """Void a match for a reason that is not a bot's fault; False if the match is over already.

    A worker that plays the match loses its lease.

    Raises:
        NotFound: the match does not exist.
    """
    matches = schema.matches
    with writing(engine, "void") as connection:
        row = _lock(connection, match, _is_open)
        if row is not None:
            _end_match(connection, row, MatchState.VOID, reason=reason)
            return True
        if connection.execute(select(matches.c.id).where(matches.c.id == match)).first() is None:
            raise not_found(match)
    return False


def _is_due() -> ColumnElement[bool]:
    return and_(_is_free(now()), offline_bot_waits.is_ready(), is_current())


def _is_free(at: ColumnElement[float]) -> ColumnElement[bool]:
    """Return the condition that a match is open, has no lease, and its tournament lets it begin."""
    matches, tournaments = schema.matches, schema.tournaments
    pending = and_(matches.c.state == MatchState.PENDING, lease_times.may_be_tried(at))
    return and_(
        matches.c.state.in_(OPEN),
        or_(pending, lease_times.is_lapsed(at)),
        tournaments.c.state.in_((TournamentState.RUNNING, TournamentState.CANCELLED)),
    )


def _is_open() -> ColumnElement[bool]:
    return schema.matches.c.state.in_(OPEN)


def _has_newest_attempt() -> ColumnElement[bool]:
    matches = schema.matches
    return and_(matches.c.state == MatchState.RUNNING, matches.c.attempt == bindparam("of_attempt"))


def _has_valid_lease() -> ColumnElement[bool]:
    return and_(_has_newest_attempt(), schema.matches.c.lease_until > now())


def _lock_if_due(connection: Connection, match: str) -> Row[*tuple[Any, ...]] | None:
    return _lock(connection, match, _is_due)


def _lock(
    connection: Connection,
    match: str,
    condition: Callable[[], ColumnElement[bool]],
    **values: object,
) -> Row[*tuple[Any, ...]] | None:
    """Lock a match until the transaction ends and return it; None if the condition is false."""
    return connection.execute(_lock_query(condition), {"of_match": match, **values}).one_or_none()


# Statements of the transactions of every match. Building one takes longer than executing it, so
# each is built once for the process.


@cache
def _due_query(pushed: bool, models: bool | None) -> Select[*tuple[Any, ...]]:
    matches, tournaments = schema.matches, schema.tournaments
    is_challenge = and_(tournaments.c.format == challenges.FORMAT, tournaments.c.matches == 1)
    urgency = case((matches.c.attempt > 0, 0), (is_challenge, 1), else_=_NOT_URGENT)
    turn = func.row_number().over(
        partition_by=(matches.c.tournament, urgency), order_by=(matches.c.round, matches.c.number)
    )
    # The subquery reads the clock once, not for each of the matches.
    at = select(now()).scalar_subquery()
    due = (
        select(
            matches.c.id,
            urgency.label("urgency"),
            turn.label("turn"),
            (tournaments.c.format == "ladder").label("of_ladder"),
            tournaments.c.created,
            tournaments.c.id.label("tournament"),
        )
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .where(
            _is_free(at),
            offline_bot_waits.is_ready(at),
            *([] if pushed else [pushed_versions.has_no_pushed_version()]),
            *([] if models is None else [has_model_clock() if models else not_(has_model_clock())]),
            or_(
                tournaments.c.state == TournamentState.CANCELLED,
                tournaments.c.game.not_in(bindparam("without", expanding=True)),
            ),
        )
        .subquery()
    )
    place = func.row_number().over(
        partition_by=(due.c.urgency, due.c.of_ladder),
        order_by=(due.c.turn, due.c.created, due.c.tournament),
    )
    # In units of a quarter match: the first match of a ladder follows the third one of the others.
    others = place * (LADDER_TURN + 1)
    of_ladders = place * (LADDER_TURN + 1) * LADDER_TURN + 1
    return (
        select(*due.c["id", "urgency"])
        .order_by(due.c.urgency, case((due.c.of_ladder, of_ladders), else_=others))
        .limit(bindparam("limit", type_=Integer()))
    )


@cache
def _lock_query(condition: Callable[[], ColumnElement[bool]]) -> Select[*tuple[Any, ...]]:
    matches, tournaments = schema.matches, schema.tournaments
    # A lease also needs the specification; reading it here saves a statement.
    whole = rows.spec_columns() if condition is _is_due else matches.c["id", "tournament"]
    columns = matches.c["state", "attempt", "owner", "failures", "games"]
    return (
        select(*whole, *columns, tournaments.c.state.label("tournament_state"))
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .where(matches.c.id == bindparam("of_match"), condition())
        .with_for_update(of=matches)
    )


@cache
def _lease_update() -> Update:
    matches = schema.matches
    return (
        update(matches)
        .where(matches.c.id == bindparam("of_match"))
        .values(
            state=MatchState.RUNNING,
            attempt=bindparam("new_attempt"),
            owner=bindparam("new_owner"),
            leased=now(),
            lease_until=now() + bindparam("seconds", type_=Double()),
            retry_at=None,
        )
    )


@cache
def _renewal() -> Update:
    matches = schema.matches
    return (
        update(matches)
        .where(matches.c.id == bindparam("of_match"), _has_valid_lease())
        .values(lease_until=now() + bindparam("seconds", type_=Double()))
    )


@cache
def _end_update() -> Update:
    matches = schema.matches
    return (
        update(matches)
        .where(matches.c.id == bindparam("of_match"))
        .values(state=bindparam("new_state"), owner=None, lease_until=None, ended=now())
    )


def _record_failure(connection: Connection, row: Row[*tuple[Any, ...]], fault: ArenaFault) -> bool:
    """Record a failure of the arena; return whether it voided the match.

    Only consecutive attempts without a committed game count. An attempt that committed a game made
    progress, and the number of games is finite. So a match that takes longer than the time between
    two failures still ends. A match that cannot finish a single game becomes void, but not because
    one machine is broken for a moment. Each counted failure doubles the pause before the next
    attempt.
    """
    matches, failures = schema.matches, schema.failures
    public_reason, _, _ = fault.reason.partition("\n")
    connection.execute(
        insert(failures).values(
            match=row.id,
            attempt=row.attempt,
            at=now(),
            reason=fault.reason,
            machine=fault.machine,
            counted=int(fault.counts),
        )
    )
    in_a_row, machines, span = connection.execute(_consecutive_failures(row.id)).one()
    pause = min(_FIRST_PAUSE_SECONDS * 2.0 ** max(0, in_a_row - 1), LONGEST_PAUSE_SECONDS)
    connection.execute(
        update(matches)
        .where(matches.c.id == row.id)
        .values(
            failures=row.failures + 1,
            reason=public_reason,
            retry_at=now() + pause if fault.counts else None,
        )
    )
    is_lasting = machines > 1 or span >= _SPAN_TO_VOID_SECONDS
    if not fault.counts or in_a_row < FAILURES_TO_VOID or not is_lasting:
        return False
    _end_match(connection, row, MatchState.VOID)
    log.warning(
        "%s is VOID after %d failures without a game: %s", row.id, in_a_row, one_line(fault.reason)
    )
    return True


def _consecutive_failures(match: str) -> Select[int, int, float]:
    """Return the query of the counted failures since the last game: number, machines, seconds."""
    games, failures = schema.games, schema.failures
    last_progress = select(func.coalesce(func.max(games.c.attempt), 0)).where(
        games.c.match == match
    )
    return select(
        func.count(),
        func.count(failures.c.machine.distinct()),
        func.coalesce(func.max(failures.c.at) - func.min(failures.c.at), 0.0),
    ).where(
        failures.c.match == match,
        failures.c.counted == 1,
        failures.c.attempt > last_progress.scalar_subquery(),
    )


def _quarantine_failing_bots(engine: Engine, match: str) -> None:
    try:
        quarantine.quarantine_failing(engine, match)
    except SQLAlchemyError as error:
        # The rule is checked again at the next failure; this lease or release remains valid.
        log.warning("%s: cannot decide which bots to quarantine: %s", match, error)


def _end_match(
    connection: Connection, row: Row[*tuple[Any, ...]], state: MatchState, **values: object
) -> None:
    changed = _end_update().values(**values) if values else _end_update()
    connection.execute(changed, {"of_match": row.id, "new_state": state})
    kind = _CLOSING_KINDS.get(state)
    if kind is not None:
        closings.add_closing(connection, kind, match=row.id, tournament=row.tournament)


def _check_belongs_to_match(spec: MatchSpec, game: PlayedGame) -> None:
    table, board = divmod(game.game, spec.boards)
    number = board if spec.mirrored else game.game
    if not 0 <= game.game < spec.games or (game.table, game.board) != (table, number):
        raise InvalidValue(
            f"{game_text(game.game)} (table {game.table + 1}, board {game.board + 1}) does not "
            f"belong to match {spec.id}",
            code="other-match",
        )
    if len(game.places) != len(spec.entrants):
        raise InvalidValue(
            f"{game_text(game.game)} of match {spec.id} leaves an entrant out",
            code="entrant-missing",
        )


def _lease_lost(connection: Connection, lease: Lease) -> LeaseLost:
    matches = schema.matches
    row = connection.execute(
        select(*matches.c["state", "attempt"]).where(matches.c.id == lease.match)
    ).one_or_none()
    if row is None:
        why, code = "the match is not in the store", "unknown-match"
    elif row.state not in OPEN:
        why, code = f"the match is {row.state}", "match-over"
    elif row.attempt != lease.attempt:
        why, code = f"the match is at attempt {row.attempt}", "other-attempt"
    elif row.state == MatchState.PENDING:
        why, code = "it was given back", "given-back"
    else:
        why, code = f"it was not renewed within {lease.seconds:g} s", "expired"
    return LeaseLost(
        f"{lease.owner} has lost its lease of match {lease.match} "
        f"(attempt {lease.attempt}): {why}.",
        code=code,
    )
