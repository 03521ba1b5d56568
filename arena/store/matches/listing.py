"""List matches with their public fields, which do not include the seed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import inf
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Engine, and_, func, or_, select

from arena.errors import NotFound
from arena.formats.contract import REPLAY, place_of
from arena.store import schema
from arena.store.database import id_batches, now, read_rows, reading
from arena.store.matches import lease_times
from arena.store.schema import MatchState

_WITHIN_TOURNAMENT: Final = (schema.matches.c.round, schema.matches.c.number)
_OLDEST_FIRST: Final = (
    schema.tournaments.c.created,
    schema.tournaments.c.id,
    *_WITHIN_TOURNAMENT,
)


_RECENT_SECONDS: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Match:
    """A match in its current state."""

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
    """Number of leases granted so far."""
    owner: str | None
    """The worker that holds its lease, or held it until the lease lapsed."""
    failures: int
    """Number of its attempts that failures of the arena ended."""
    reason: str | None
    """The last of these failures, or the reason why the match is void."""
    forfeited_by: str | None
    """The entrant that loses the void match by an organiser's decision."""
    retry_at: float | None
    """When the next attempt may begin after a failure of the arena, in seconds since 1970."""
    committed: int
    """Number of committed games."""
    games: int
    """Number of games to play."""
    ended: float | None
    why: str
    """The format's reason for this pairing; empty without one."""
    key: str
    """The hash of its content (`arena.store.ids.match_key`)."""

    @property
    def place(self) -> tuple[int, int]:
        """Its round, and the number within it that it shares with its replays."""
        return place_of(self.round, self.number)

    @property
    def replay(self) -> int:
        """0: the first match of its place, 1: its replay, 2: the replay of the replay."""
        return self.number // REPLAY


def find_match(engine: Engine, match: str) -> Match:
    """Return the match with this id.

    Raises:
        NotFound: it does not exist.
    """
    with reading(engine) as connection:
        matches = _select(connection, [schema.matches.c.id == match])
    if not matches:
        raise not_found(match)
    return matches[0]


def matches(
    engine: Engine,
    *,
    tournament: str | None = None,
    version: str | None = None,
    states: Collection[MatchState] = (),
    tag: str | None = None,
    ids: Collection[str] | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> tuple[Match, ...]:
    """Return matches in canonical order: by age of the tournament, round and number.

    Args:
        tournament: only matches of this tournament.
        version: only matches with this entrant (``name@number``).
        states: only matches in one of these states; empty: in any.
        tag: only closed matches in which a bot has set this tag.
        ids: only these matches; None: any.
        limit: maximum number of matches; None: all.
    """
    table, sides = schema.matches, schema.match_entrants
    conditions: list[ColumnElement[bool]] = []
    if tournament is not None:
        conditions.append(table.c.tournament == tournament)
    if version is not None:
        conditions.append(table.c.id.in_(select(sides.c.match).where(sides.c.version == version)))
    if states:
        conditions.append(table.c.state.in_(states))
    if ids is not None:
        conditions.append(table.c.id.in_(ids))
    if tag is not None:
        tags = schema.match_tags
        conditions.append(table.c.id.in_(select(tags.c.match).where(tags.c.tag == tag)))
    # PostgreSQL sorts all matches of the tournament unless the order is exactly that of an index.
    order = _OLDEST_FIRST if tournament is None else _WITHIN_TOURNAMENT
    with reading(engine) as connection:
        return _select(connection, conditions, limit, offset, order)


def latest(engine: Engine, limit: int) -> tuple[Match, ...]:
    """Return the matches that closed last, newest first."""
    results = schema.results
    newest = select(results.c.match).order_by(results.c.closed.desc()).limit(limit)
    with reading(engine) as connection:
        names = list(connection.execute(newest).scalars())
        matches = {
            match.id: match for match in _select(connection, [schema.matches.c.id.in_(names)])
        }
    return tuple(matches[name] for name in names if name in matches)


def newest(engine: Engine, tournament: str, limit: int) -> tuple[Match, ...]:
    """Return the running matches of a tournament and those that ended last, newest first."""
    table = schema.matches
    names: list[str] = []
    with reading(engine) as connection:
        for state in (MatchState.RUNNING, MatchState.CLOSED, MatchState.VOID):
            # One query for each state, because the index begins with it.
            query = (
                select(table.c.id)
                .where(table.c.state == state, table.c.tournament == tournament)
                .order_by(table.c.ended.desc())
                .limit(limit)
            )
            names += connection.execute(query).scalars()
        stored = _select(connection, [table.c.id.in_(names)])
    return tuple(sorted(stored, key=lambda match: match.ended or inf, reverse=True)[:limit])


def replays(engine: Engine, match: Match) -> tuple[Match, ...]:
    """Return a match with all its replays, the first match first."""
    table, (number, place) = schema.matches, match.place
    conditions = [
        table.c.tournament == match.tournament,
        table.c.round == number,
        table.c.number % REPLAY == place,
    ]
    with reading(engine) as connection:
        return _select(connection, conditions)


def first_paused(engine: Engine, tournament: str) -> Match | None:
    """Return the first match of a tournament that pauses after failures of the arena, if any."""
    table = schema.matches
    conditions = [
        table.c.tournament == tournament,
        table.c.state == MatchState.PENDING,
        table.c.retry_at.is_not(None),
    ]
    with reading(engine) as connection:
        return next(iter(_select(connection, conditions, limit=1)), None)


def troubled(engine: Engine) -> tuple[Match, ...]:
    """Return the matches that failures of the arena delay, or made void in the last 24 hours."""
    table = schema.matches
    is_delayed = and_(table.c.state == MatchState.PENDING, table.c.retry_at.is_not(None))
    is_void = and_(
        table.c.state == MatchState.VOID,
        table.c.failures > 0,
        table.c.ended > now() - _RECENT_SECONDS,
    )
    with reading(engine) as connection:
        return _select(connection, [or_(is_delayed, is_void, lease_times.is_lapsed())])


def waiting_reason(match: Match) -> str:
    """Return why a match waits for its next attempt, as a clause; empty if it does not."""
    if match.state is not MatchState.PENDING or match.retry_at is None:
        return ""
    reason = (match.reason or "a failure of the arena").rstrip(".")
    attempts = "1 failure" if match.failures == 1 else f"{match.failures} failures"
    next_attempt = datetime.fromtimestamp(match.retry_at, UTC).strftime("%H:%M:%S UTC")
    return f"waits after {attempts} of the arena: {reason}; next attempt at {next_attempt}"


@dataclass(frozen=True, slots=True)
class ArenaFailure:
    """A failure of the arena that ended an attempt; `reason` has details for the organiser."""

    attempt: int
    at: float
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {"attempt": self.attempt, "reason": self.reason}


def failures_of(engine: Engine, match: str) -> tuple[ArenaFailure, ...]:
    """Return the failures of the arena that ended attempts of a match, the first one first."""
    table = schema.failures
    query = (
        select(table.c.attempt, table.c.at, table.c.reason)
        .where(table.c.match == match)
        .order_by(table.c.attempt)
    )
    return tuple(ArenaFailure(*row) for row in read_rows(engine, query))


def not_found(match: str) -> NotFound:
    """Return the error for an unknown match id."""
    return NotFound(
        f"unknown match {match}; `pokearena tournament show ID` lists those of a tournament.",
        code="unknown-match",
    )


def _select(
    connection: Connection,
    conditions: list[ColumnElement[bool]],
    limit: int | None = None,
    offset: int = 0,
    order: Sequence[ColumnElement[Any]] = _OLDEST_FIRST,
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
            *table.c[
                "attempt",
                "owner",
                "failures",
                "reason",
                "forfeited_by",
                "retry_at",
                "games",
                "ended",
                "why",
                "key",
            ],
            tournaments.c.game,
            committed,
        )
        .select_from(joined)
        .where(*conditions)
        .order_by(*order)
        .limit(limit)
        .offset(offset)
    )
    rows = connection.execute(chosen).all()
    entrants = _entrants(connection, [row.id for row in rows])
    return tuple(
        Match(**{**row._mapping, "state": MatchState(row.state)}, entrants=entrants[row.id])
        for row in rows
    )


def _entrants(connection: Connection, ids: list[str]) -> dict[str, tuple[str, ...]]:
    sides = schema.match_entrants
    entrants: dict[str, tuple[str, ...]] = {}
    for batch in id_batches(ids):
        query = (
            select(sides.c.match, sides.c.version)
            .where(sides.c.match.in_(batch))
            .order_by(sides.c.match, sides.c.position)
        )
        for match, group in groupby(connection.execute(query), lambda row: row[0]):
            entrants[match] = tuple(version for _, version in group)
    return entrants
