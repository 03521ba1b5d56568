"""Read a tournament's matches as its format requires them, and the ends of its rounds."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, Final

from sqlalchemy import Connection, Engine, func, select

from arena.formats.contract import FormatMatch, MatchStatus, without_replayed
from arena.store import schema
from arena.store.access import audit_log
from arena.store.database import reading
from arena.store.matches import closed_matches
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.schema import MatchState

_ROWS_AT_ONCE: Final = 5000
_MATCHES_AT_ONCE: Final = 500
_STATES: Final[Mapping[str, MatchStatus]] = {
    MatchState.PENDING: MatchStatus.OPEN,
    MatchState.RUNNING: MatchStatus.OPEN,
    MatchState.CLOSED: MatchStatus.CLOSED,
    MatchState.VOID: MatchStatus.VOID,
    MatchState.CANCELLED: MatchStatus.VOID,
}


def read_matches(
    connection: Connection, tournament: str, first: int, *, with_results: bool = True
) -> Generator[FormatMatch, None, None]:
    """Yield the matches of a tournament from a round on, in canonical order, with all replays.

    Without results the state of closed matches is `MatchStatus.ENDED`.
    """
    table, sides = schema.matches, schema.match_entrants
    query = (
        select(*table.c["id", "round", "number", "state", "forfeited_by"], sides.c.version)
        .join(sides, sides.c.match == table.c.id)
        .where(table.c.tournament == tournament, table.c.round >= first)
        .order_by(table.c.round, table.c.number, sides.c.position)
    )
    with connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(query) as answer:
        groups = groupby(answer, lambda row: row.id)
        while batch := [(name, list(rows)) for name, rows in islice(groups, _MATCHES_AT_ONCE)]:
            closed = [name for name, rows in batch if rows[0].state == MatchState.CLOSED]
            found = (
                closed_matches.with_ids(connection, closed, with_thinking=False)
                if with_results
                else {}
            )
            for name, rows in batch:
                yield _format_match(rows, found.get(name))


def _format_match(rows: Sequence[Any], stored: PlayedMatch | None) -> FormatMatch:
    first = rows[0]
    state = _STATES[first.state]
    if state is MatchStatus.CLOSED and stored is None:
        state = MatchStatus.ENDED
    return FormatMatch(
        round=first.round,
        number=first.number,
        entrants=tuple(sys.intern(row.version) for row in rows),
        state=state,
        games=stored.games if stored is not None else (),
        forfeited_by=first.forfeited_by or "",
    )


class FormatHistory:
    """The matches of one tournament; rounds that are over are read only once.

    The exceptions are a correction of results, and a round to which a match has been added: then
    all rounds are read again. This happens in a knockout: a series can continue in a stage whose
    matches were all over, while the next stage has begun elsewhere in the bracket.

    Args:
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
