"""Matches that wait for an absent remote bot, and the limit of the wait.

A match is not due while one of its bots is absent, so no attempt is made and none is counted. When
the organiser's limit expires, a match that has not begun becomes void. A match that has begun is
continued without the bot, which then has not started in time. Otherwise a losing bot could escape
by staying away.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    exists,
    func,
    or_,
    select,
    update,
)

from arena.store import schema
from arena.store.database import id_batches, now, read_rows, reading, writing
from arena.store.matches import lease_times
from arena.store.postgresql import lock_rows
from arena.store.schema import MatchState, TournamentState


def is_ready(at: ColumnElement[float] | None = None) -> ColumnElement[bool]:
    """Return the SQL condition that a match does not wait for any remote bot.

    Args:
        at: the time; by default the database's clock when it reads the match. With a time, the
            condition is fast for many matches, otherwise for one.
    """
    matches, tournaments = schema.matches, schema.tournaments
    if at is None:
        no_bot_is_absent = ~_has_absent_bot(now())
    else:
        no_bot_is_absent = matches.c.id.not_in(_with_absent_bot(at))
    return or_(
        matches.c.unawaited.is_not(None),
        # Matches of cancelled tournaments are due only to be cancelled.
        tournaments.c.state == TournamentState.CANCELLED,
        no_bot_is_absent,
    )


def is_unawaited(engine: Engine, match: str) -> bool:
    """Return whether a match is to be played even if a remote bot is absent."""
    matches = schema.matches
    query = select(matches.c.unawaited).where(matches.c.id == match)
    return read_rows(engine, query).scalar_one_or_none() is not None


def has_remote_bots(engine: Engine) -> bool:
    return read_rows(engine, select(schema.remotes.c.version).limit(1)).first() is not None


def waited_for(engine: Engine) -> dict[str, int]:
    """Return the absent remote bots, with the number of matches that wait for each."""
    matches, tournaments = schema.matches, schema.tournaments
    sides, remotes = schema.match_entrants, schema.remotes
    query = (
        select(remotes.c.version, func.count())
        .join(sides, sides.c.version == remotes.c.version)
        .join(matches, matches.c.id == sides.c.match)
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .where(*_waits(), remotes.c.until <= now())
        .group_by(remotes.c.version)
        .order_by(remotes.c.version)
    )
    return {str(name): int(number) for name, number in read_rows(engine, query)}


def addresses(engine: Engine) -> Mapping[str, str]:
    """Return the addresses of direct bots that are absent and awaited, by version."""
    versions = schema.versions
    waiting = list(waited_for(engine))
    query = select(versions.c.id, versions.c.manifest).where(versions.c.id.in_(waiting))
    rows = read_rows(engine, query).all()
    return {row.id: row.manifest["address"] for row in rows if "address" in row.manifest}


def give_up(engine: Engine, limit: float, since: float) -> int:
    """Stop waiting for bots that have been absent too long; return the number of matches.

    Args:
        limit: the maximum wait in seconds.
        since: absence before this database time does not count, because presence was not monitored.
    """
    matches, query = schema.matches, _expired_waits(limit, since)
    with reading(engine) as connection:
        # Usually no match is found; then this does not take the write lock.
        if connection.execute(query).first() is None:
            return 0
    with writing(engine, "give_up") as connection:
        expired = connection.execute(query).all()
        for batch in id_batches([row.id for row in expired]):
            chosen = matches.c.id.in_(batch)
            lock_rows(connection, select(matches.c.id).where(chosen).order_by(matches.c.id))
        for match, version in expired:
            reason = f"the remote bot {version} was not there for {_words(limit)}"
            _end_wait(connection, match, reason)
    return len(expired)


def _expired_waits(limit: float, since: float) -> Select[str, str]:
    """Return the query of the matches that have waited too long, each with an absent bot."""
    matches, tournaments, remotes = schema.matches, schema.tournaments, schema.remotes
    sides = schema.match_entrants
    return (
        select(matches.c.id, func.min(remotes.c.version).label("version"))
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .join(sides, sides.c.match == matches.c.id)
        .join(remotes, remotes.c.version == sides.c.version)
        .where(
            *_waits(),
            remotes.c.until + limit <= now(),
            func.coalesce(remotes.c.since, 0.0) + limit <= now(),
            tournaments.c.created + limit <= now(),
            now() >= since + limit,
        )
        .group_by(matches.c.id)
        .order_by(matches.c.id)
    )


def _end_wait(connection: Connection, match: str, reason: str) -> None:
    """Continue a match without its absent bot if it has begun; else make it void."""
    matches, games = schema.matches, schema.games
    begun = connection.execute(select(exists().where(games.c.match == match))).scalar_one()
    change = update(matches).where(matches.c.id == match, _is_open())
    if begun:
        change = change.values(
            unawaited=now(), reason=f"{reason}: the tournament continues without it."
        )
    else:
        change = change.values(
            state=MatchState.VOID,
            owner=None,
            lease_until=None,
            ended=now(),
            reason=f"{reason}; nobody is charged.",
        )
    connection.execute(change)


def _waits() -> tuple[ColumnElement[bool], ...]:
    """Return the SQL conditions that a match waits if one of its bots is absent."""
    matches, tournaments = schema.matches, schema.tournaments
    running = tournaments.c.state == TournamentState.RUNNING
    return (_is_open(), running, matches.c.unawaited.is_(None))


def _is_open() -> ColumnElement[bool]:
    """Return the SQL condition that a match is open and no worker holds its lease."""
    return or_(schema.matches.c.state == MatchState.PENDING, lease_times.is_lapsed())


def _has_absent_bot(at: ColumnElement[float]) -> ColumnElement[bool]:
    """Return the SQL condition that a remote bot of the match is absent."""
    sides, remotes, matches = schema.match_entrants, schema.remotes, schema.matches
    return exists(
        select(1)
        .select_from(sides.join(remotes, remotes.c.version == sides.c.version))
        .where(sides.c.match == matches.c.id, _is_absent(at))
        .correlate(matches)
    )


def _is_absent(at: ColumnElement[float]) -> ColumnElement[bool]:
    return or_(schema.remotes.c.until <= at, schema.remotes.c.free_tables <= 0)


def _with_absent_bot(at: ColumnElement[float]) -> Select[str]:
    """Return the query of all matches, except closed ones, that `_has_absent_bot` would select."""
    sides = schema.match_entrants
    # As a join, SQLite reads the entrants of all matches that were ever played.
    chosen = select(schema.remotes.c.version).where(_is_absent(at))
    return select(sides.c.match).where(sides.c.closed.is_(None), sides.c.version.in_(chosen))


def _words(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"
