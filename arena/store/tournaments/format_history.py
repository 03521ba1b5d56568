"""Read a tournament's matches as its format requires them, and the ends of its rounds."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, takewhile
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, case, func, null, select

from arena.formats.contract import FormatMatch, MatchStatus, without_replayed
from arena.store import schema
from arena.store.access import audit_log
from arena.store.database import reading, unindexed
from arena.store.matches.games import games_of
from arena.store.schema import OPEN, MatchState
from arena.store.tournaments import tournaments

_ROWS_AT_ONCE: Final = 5000
_ROUNDS_AT_ONCE: Final = 20
_STATES: Final[Mapping[str, MatchStatus]] = {
    MatchState.PENDING: MatchStatus.OPEN,
    MatchState.RUNNING: MatchStatus.OPEN,
    MatchState.CLOSED: MatchStatus.CLOSED,
    MatchState.VOID: MatchStatus.VOID,
    MatchState.CANCELLED: MatchStatus.VOID,
}


def closed(engine: Engine, of: Sequence[str], until: float) -> int:
    """Return how many matches of some tournaments had closed at a time.

    Only the later ones are counted, because they are few if the time is recent.
    """
    matches, results = schema.matches, schema.results
    query = (
        select(func.count())
        .select_from(results.join(matches, matches.c.id == results.c.match))
        .where(results.c.closed > until, unindexed(matches.c.tournament).in_(of))
    )
    with reading(engine) as connection:
        later = connection.execute(query).scalar_one()
        return tournaments.closed(connection, of) - int(later)


def entrants(engine: Engine, of: Sequence[str]) -> int:
    """Return how many different versions entered some tournaments."""
    table = schema.entrants
    query = select(func.count(table.c.version.distinct())).where(table.c.tournament.in_(of))
    with reading(engine) as connection:
        return int(connection.execute(query).scalar_one())


def read_matches(
    connection: Connection, tournament: str, first: int, *, with_results: bool = True
) -> Generator[FormatMatch, None, None]:
    """Yield the matches of a tournament from a round on, in canonical order, with all replays.

    Without results the state of closed matches is `MatchStatus.ENDED`.
    """
    table, sides, results = schema.matches, schema.match_entrants, schema.results
    outcome = results.c.outcome if with_results else null().label("outcome")
    query = (
        select(*table.c["id", "round", "number", "state"], sides.c.version, outcome)
        .join(sides, sides.c.match == table.c.id)
        .outerjoin(results, results.c.match == table.c.id)
        .where(table.c.tournament == tournament, table.c.round >= first)
        .order_by(table.c.round, table.c.number, sides.c.position)
    )
    with connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(query) as answer:
        for _, group in groupby(answer, lambda row: row.id):
            rows = list(group)
            last = rows[0]
            state = _STATES[last.state]
            if state is MatchStatus.CLOSED and not with_results:
                state = MatchStatus.ENDED
            yield FormatMatch(
                round=last.round,
                number=last.number,
                entrants=tuple(sys.intern(row.version) for row in rows),
                state=state,
                games=games_of(last.outcome) if state is MatchStatus.CLOSED else (),
            )


class FormatHistory:
    """The matches of one tournament; rounds that are over are read only once.

    The exceptions are a correction of results, and a round to which a match has been added: then
    all rounds are read again. This happens in a knockout: a series can continue in a stage whose
    matches were all over, while the next stage has begun elsewhere in the bracket.

    Args:
        engine: the store.
        tournament: the id of the tournament.
        with_results: whether the games of closed matches are read, as for `read_matches`. They
            take 0.7 kB of memory each.
    """

    def __init__(self, engine: Engine, tournament: str, *, with_results: bool = True) -> None:
        self._engine = engine
        self._tournament = tournament
        self._with_results = with_results
        self._over: list[FormatMatch] = []
        self._first = 0
        self._corrections = 0

    def matches(self) -> tuple[FormatMatch, ...]:
        """Return the matches in their current state, of replayed ones only the latest replay."""
        with reading(self._engine) as connection:
            corrections = audit_log.corrections(connection)
            if corrections != self._corrections:
                self._over, self._first, self._corrections = [], 0, corrections
            elif count_before(connection, self._tournament, self._first) != len(self._over):
                self._over, self._first = [], 0
            moving = list(
                read_matches(
                    connection, self._tournament, self._first, with_results=self._with_results
                )
            )
        every = (*self._over, *moving)
        self._keep(moving)
        return tuple(without_replayed(every))

    def _keep(self, moving: list[FormatMatch]) -> None:
        """Cache the matches of rounds that are over."""
        still = (match.round for match in moving if match.state is MatchStatus.OPEN)
        last = max((match.round for match in moving), default=self._first)
        # The newest round may be read again; that is cheap and avoids a special case.
        self._first = min(still, default=last)
        self._over += [match for match in moving if match.round < self._first]


def count_before(connection: Connection, tournament: str, before: int) -> int:
    """Return the number of matches in the rounds before this one.

    Only the other matches are counted, because they are few in a long tournament.
    """
    table, tournament_table = schema.matches, schema.tournaments
    later = (
        select(func.count())
        .where(table.c.tournament == tournament, table.c.round >= before)
        .scalar_subquery()
    )
    query = select(tournament_table.c.matches - later).where(tournament_table.c.id == tournament)
    return int(connection.execute(query).scalar_one())


@dataclass(frozen=True, slots=True)
class FinishedRounds:
    """The rounds of a tournament before the first one that can still change.

    Attributes:
        first: number of that round.
        matches: number of matches in the rounds before it.
        ends: when the last match of each of these rounds closed; rounds without a closed match are
            omitted.
    """

    first: int = 0
    matches: int = 0
    ends: tuple[float, ...] = ()


class RoundEnds:
    """The ends of the rounds of some tournaments; rounds that are over are read only once.

    A round is over when none of its matches can be played any more. As in `FormatHistory`, all
    rounds of a tournament are read again if a match has been added to an old round. After a
    correction of results, create a new object.

    Args:
        finished: what another object has read, by tournament.
    """

    def __init__(self, finished: Mapping[str, FinishedRounds] | None = None) -> None:
        self.finished = dict(finished or {})
        """The rounds that are over, by tournament."""
        self._newest: dict[str, tuple[float, ...]] = {}
        self._closed: set[str] = set()

    def now(self, engine: Engine, of: Sequence[str]) -> tuple[float, ...]:
        """Return the end of each round of some tournaments, ascending.

        Rounds that ended at the same time appear once.
        """
        table = schema.tournaments
        over = select(table.c.id).where(table.c.id.in_(of), table.c.ended.is_not(None))
        with reading(engine) as connection:
            closed = set(connection.execute(over).scalars())
            for tournament in of:
                if tournament not in self._closed:
                    self._read(connection, tournament)
        self._closed |= closed
        return tuple(sorted({at for name in of for at in self._ends(name)}))

    def _ends(self, tournament: str) -> Iterable[float]:
        return chain(
            self.finished[tournament].ends if tournament in self.finished else (),
            self._newest.get(tournament, ()),
        )

    def _read(self, connection: Connection, tournament: str) -> None:
        finished = self.finished.get(tournament, FinishedRounds())
        if count_before(connection, tournament, finished.first) != finished.matches:
            finished = FinishedRounds()
        rows = _rounds(connection, tournament, finished.first)
        over = list(takewhile(lambda row: not row.open, rows))
        newest = [row.closed for row in rows[len(over) :] if not row.open]
        if over:
            finished = FinishedRounds(
                over[-1].round + 1,
                finished.matches + sum(row.matches for row in over),
                (*finished.ends, *(row.closed for row in over if row.closed is not None)),
            )
        self.finished[tournament] = finished
        self._newest[tournament] = tuple(at for at in newest if at is not None)


def _rounds(connection: Connection, tournament: str, first: int) -> list[Row[Any]]:
    """Return the number, matches, open matches and newest closing of rounds from one on."""
    table = schema.matches
    newest = connection.execute(
        select(func.max(table.c.round)).where(table.c.tournament == tournament)
    ).scalar_one()
    # A few rounds at a time. PostgreSQL expects half of all matches in the rounds after a number,
    # even after the newest one, and would read the whole table.
    begins = range(first, (-1 if newest is None else newest) + 1, _ROUNDS_AT_ONCE)
    return [row for begin in begins for row in _next_rounds(connection, tournament, begin)]


def _next_rounds(connection: Connection, tournament: str, first: int) -> Sequence[Row[Any]]:
    """Return at most `_ROUNDS_AT_ONCE` of the rounds that `_rounds` returns."""
    matches, results = schema.matches, schema.results
    # Not a join, for which PostgreSQL would read all results.
    closed = select(results.c.closed).where(results.c.match == matches.c.id).scalar_subquery()
    query = (
        select(
            matches.c.round,
            func.count().label("matches"),
            func.sum(case((matches.c.state.in_(OPEN), 1), else_=0)).label("open"),
            func.max(closed).label("closed"),
        )
        .where(
            matches.c.tournament == tournament,
            matches.c.round.between(first, first + _ROUNDS_AT_ONCE - 1),
        )
        .group_by(matches.c.round)
        .order_by(matches.c.round)
    )
    return connection.execute(query).all()
