"""The matches as anyone may see them, which is without their seeds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import ColumnElement, Connection, Engine, func, select

from arena.errors import NotFound
from arena.store import schema
from arena.store.database import reading
from arena.store.schema import OPEN, MatchState

# SQLite takes a bounded number of values in one statement.
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Match:
    """A match as it stands."""

    id: str
    tournament: str
    round: int
    number: int
    game: str
    entrants: tuple[str, ...]
    """Versions as ``name@number``, in canonical order."""
    boards: int
    commitment: str
    """SHA-256 of its seed, in hexadecimal."""
    state: MatchState
    attempt: int
    """How often it has been taken up."""
    owner: str | None
    """The worker that has it, or had it when its lease lapsed."""
    failures: int
    """How many of its attempts the arena's own failures ended."""
    reason: str | None
    """The last of them, or why it is void."""
    committed: int
    """How many games are over."""
    games: int
    """How many games it has."""
    ended: float | None
    why: str
    """Why its format paired these; empty where there is nothing to say."""
    key: str
    """The hash of what it is (arena.store.ids)."""


def find(engine: Engine, match: str) -> Match:
    """The match of this id.

    Raises:
        NotFound: there is none.
    """
    with reading(engine) as connection:
        found = _select(connection, [schema.matches.c.id == match])
    if not found:
        raise not_found(match)
    return found[0]


def matches(
    engine: Engine,
    *,
    tournament: str | None = None,
    version: str | None = None,
    states: Collection[MatchState] = (),
    limit: int | None = None,
    offset: int = 0,
) -> tuple[Match, ...]:
    """Matches in canonical order: by age of the tournament, round and number.

    Args:
        tournament: only this one's.
        version: only those in which this version (``name@number``) plays.
        states: only those in one of these states.
        limit: at most so many. offset: without so many of the first.
    """
    table, sides = schema.matches, schema.match_entrants
    conditions: list[ColumnElement[bool]] = []
    if tournament is not None:
        conditions.append(table.c.tournament == tournament)
    if version is not None:
        conditions.append(table.c.id.in_(select(sides.c.match).where(sides.c.version == version)))
    if states:
        conditions.append(table.c.state.in_(states))
    with reading(engine) as connection:
        return _select(connection, conditions, limit, offset)


def latest(engine: Engine, limit: int) -> tuple[Match, ...]:
    """The matches that closed last, the last one first."""
    results = schema.results
    newest = select(results.c.match).order_by(results.c.closed.desc()).limit(limit)
    with reading(engine) as connection:
        names = list(connection.execute(newest).scalars())
        found = {match.id: match for match in _select(connection, [schema.matches.c.id.in_(names)])}
    return tuple(found[name] for name in names if name in found)


def open_among(engine: Engine, wanted: Sequence[str]) -> frozenset[str]:
    """Which matches of these ids may still be played."""
    table = schema.matches
    found: set[str] = set()
    with reading(engine) as connection:
        for start in range(0, len(wanted), _AT_ONCE):
            some = table.c.id.in_(wanted[start : start + _AT_ONCE])
            query = select(table.c.id).where(some, table.c.state.in_(OPEN))
            found.update(connection.execute(query).scalars())
    return frozenset(found)


def not_found(match: str) -> NotFound:
    """The error for a match that there is not."""
    return NotFound(
        f"there is no match {match}; `pokearena tournament show` lists those of a tournament."
    )


def _select(
    connection: Connection,
    conditions: list[ColumnElement[bool]],
    limit: int | None = None,
    offset: int = 0,
) -> tuple[Match, ...]:
    table, tournaments, games = schema.matches, schema.tournaments, schema.games
    committed = (
        select(func.count())
        .where(games.c.match == table.c.id)
        .correlate(table)
        .scalar_subquery()
        .label("committed")
    )
    joined = table.join(tournaments, tournaments.c.id == table.c.tournament)
    chosen = (
        select(
            *table.c["id", "tournament", "round", "number", "boards", "commitment", "state"],
            *table.c["attempt", "owner", "failures", "reason", "games", "ended", "why", "key"],
            tournaments.c.game,
            committed,
        )
        .select_from(joined)
        .where(*conditions)
        .order_by(tournaments.c.created, tournaments.c.id, table.c.round, table.c.number)
        .limit(limit)
        .offset(offset)
    )
    rows = connection.execute(chosen).all()
    entrants = _entrants(connection, [row.id for row in rows])
    return tuple(
        Match(**{**row._mapping, "state": MatchState(row.state)}, entrants=entrants[row.id])
        for row in rows
    )


def _entrants(connection: Connection, wanted: list[str]) -> dict[str, tuple[str, ...]]:
    sides = schema.match_entrants
    found: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        query = (
            select(sides.c.match, sides.c.version)
            .where(sides.c.match.in_(wanted[start : start + _AT_ONCE]))
            .order_by(sides.c.match, sides.c.position)
        )
        for match, group in groupby(connection.execute(query), lambda row: row[0]):
            found[match] = tuple(version for _, version in group)
    return found
