"""A tournament's matches as its format looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Final

from sqlalchemy import Engine, select

from arena.pairings.contract import Match, State
from arena.store import schema
from arena.store.database import reading
from arena.store.outcome import games_of
from arena.store.schema import MatchState

_STATES: Final[Mapping[str, State]] = {
    MatchState.PENDING: State.OPEN,
    MatchState.RUNNING: State.OPEN,
    MatchState.CLOSED: State.CLOSED,
    MatchState.VOID: State.VOID,
    MatchState.CANCELLED: State.VOID,
}


class History:
    """The matches of one tournament. Rounds that are over are read once."""

    def __init__(self, engine: Engine, tournament: str) -> None:
        self._engine = engine
        self._tournament = tournament
        self._over: list[Match] = []
        self._first = 0

    def matches(self) -> tuple[Match, ...]:
        """All of them as they stand, in canonical order."""
        table, sides, results = schema.matches, schema.match_entrants, schema.results
        query = (
            select(*table.c["id", "round", "number", "state"], sides.c.version, results.c.outcome)
            .join(sides, sides.c.match == table.c.id)
            .outerjoin(results, results.c.match == table.c.id)
            .where(table.c.tournament == self._tournament, table.c.round >= self._first)
            .order_by(table.c.round, table.c.number, sides.c.position)
        )
        found = []
        with reading(self._engine) as connection:
            for _, group in groupby(connection.execute(query), lambda row: row.id):
                rows = list(group)
                last = rows[0]
                closed = last.state == MatchState.CLOSED
                found.append(
                    Match(
                        round=last.round,
                        number=last.number,
                        entrants=tuple(row.version for row in rows),
                        state=_STATES[last.state],
                        games=games_of(last.outcome) if closed else (),
                    )
                )
        every = (*self._over, *found)
        self._keep(found)
        return every

    def _keep(self, found: list[Match]) -> None:
        """No match is ever added to a round that is over."""
        still = (match.round for match in found if match.state is State.OPEN)
        last = max((match.round for match in found), default=self._first)
        # The newest round may be seen again, which costs nothing and needs no special case.
        self._first = min(still, default=last)
        self._over += [match for match in found if match.round < self._first]
