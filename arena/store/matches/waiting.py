"""Matches that wait for a remote bot which is not there, and how long they do.

They are not due while it is away, so nobody tries them and nothing is counted. When the organiser's
limit is over, one that has not begun becomes void. One that has begun is played on without the
bot, which has then not started in time: else who is losing had only to stay away.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Engine, and_, exists, func, or_, select, update

from arena.store import schema
from arena.store.database import now, reading, writing
from arena.store.postgresql import keep
from arena.store.schema import MatchState, TournamentState

# SQLite takes a bounded number of values in one statement.
_AT_ONCE = 500


def is_ready() -> ColumnElement[bool]:
    """Whether a match has all its remote bots there, or waits for them no longer."""
    matches, tournaments = schema.matches, schema.tournaments
    return or_(
        matches.c.unawaited.is_not(None),
        # There it is only put to rest.
        tournaments.c.state == TournamentState.CANCELLED,
        ~_lacks(or_(schema.remotes.c.until <= now(), schema.remotes.c.room <= 0)),
    )


def is_unawaited(engine: Engine, match: str) -> bool:
    """Whether a match is to be played even if a remote bot is not there."""
    matches = schema.matches
    query = select(matches.c.unawaited).where(matches.c.id == match)
    with reading(engine) as connection:
        return connection.execute(query).scalar_one_or_none() is not None


def waited_for(engine: Engine) -> dict[str, int]:
    """The remote bots that are not there, with how many matches wait for each."""
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
    with reading(engine) as connection:
        return {str(name): int(number) for name, number in connection.execute(query)}


def addresses(engine: Engine) -> Mapping[str, str]:
    """The addresses of bots that have one of their own, are away, and are waited for."""
    versions = schema.versions
    waiting = list(waited_for(engine))
    query = select(versions.c.id, versions.c.manifest).where(versions.c.id.in_(waiting))
    with reading(engine) as connection:
        rows = connection.execute(query).all()
    return {row.id: row.manifest["address"] for row in rows if "address" in row.manifest}


def give_up(engine: Engine, limit: float, since: float) -> int:
    """Lets the matches wait no longer whose bot has been away too long.

    Args:
        limit: seconds.
        since: absence before this time (of the database) is not counted: nobody looked.

    Returns how many became void, or are played on without it.
    """
    matches, tournaments, remotes = schema.matches, schema.tournaments, schema.remotes
    sides, games = schema.match_entrants, schema.games
    last = func.coalesce(remotes.c.since, 0.0)
    query = (
        select(matches.c.id, func.min(remotes.c.version).label("version"))
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .join(sides, sides.c.match == matches.c.id)
        .join(remotes, remotes.c.version == sides.c.version)
        .where(
            *_waits(),
            remotes.c.until + limit <= now(),
            last + limit <= now(),
            tournaments.c.created + limit <= now(),
            now() >= since + limit,
        )
        .group_by(matches.c.id)
        .order_by(matches.c.id)
    )
    with reading(engine) as connection:
        # Most of the time there is nothing: then nobody is kept from writing.
        if connection.execute(query).first() is None:
            return 0
    with writing(engine, "give_up") as connection:
        found = connection.execute(query).all()
        names = [row.id for row in found]
        for start in range(0, len(names), _AT_ONCE):
            some = matches.c.id.in_(names[start : start + _AT_ONCE])
            keep(connection, select(matches.c.id).where(some).order_by(matches.c.id))
        for match, version in found:
            begun = connection.execute(select(exists().where(games.c.match == match))).scalar_one()
            reason = f"the remote bot {version} was not there for {_words(limit)}"
            change = update(matches).where(matches.c.id == match, *_is_open())
            if begun:
                change = change.values(unawaited=now(), reason=f"{reason}: it goes on without it.")
            else:
                change = change.values(
                    state=MatchState.VOID,
                    owner=None,
                    lease_until=None,
                    ended=now(),
                    reason=f"{reason}; nobody is charged.",
                )
            connection.execute(change)
    return len(found)


def time(engine: Engine) -> float:
    """What time it is by the database's clock."""
    with reading(engine) as connection:
        return float(connection.execute(select(now())).scalar_one())


def _waits() -> tuple[ColumnElement[bool], ...]:
    matches, tournaments = schema.matches, schema.tournaments
    running = tournaments.c.state == TournamentState.RUNNING
    return (*_is_open(), running, matches.c.unawaited.is_(None))


def _is_open() -> tuple[ColumnElement[bool], ...]:
    """Whether nobody plays it at the moment."""
    matches = schema.matches
    lapsed = and_(matches.c.state == MatchState.RUNNING, matches.c.lease_until <= now())
    return (or_(matches.c.state == MatchState.PENDING, lapsed),)


def _lacks(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a remote bot of the match is in some way."""
    sides, remotes, matches = schema.match_entrants, schema.remotes, schema.matches
    return exists(
        select(1)
        .select_from(sides.join(remotes, remotes.c.version == sides.c.version))
        .where(sides.c.match == matches.c.id, condition)
        .correlate(matches)
    )


def _words(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"
