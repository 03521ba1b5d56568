"""Store what idle workers compute from the records of closed matches, from the newest match on.

A worker claims a match for a limited time. The claim of a killed worker lapses, and another worker
begins again. A match is given up after three attempts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Engine, Table, delete, insert, select, update

from arena.store import schema
from arena.store.database import is_current, now, reading, writing
from arena.store.postgresql import lock_rows

CLAIM_SECONDS: Final = 3_600.0
"""Time after which an unfinished computation can be begun again."""
_ATTEMPTS: Final = 3


@dataclass(frozen=True)
class IdleResults:
    """One kind of results of closed matches.

    Attributes:
        table: the table, with one row per match.
        content: name of the column with the result.
        newest: number of newest closed matches that are considered; older ones stay as they are.
    """

    table: Table
    content: str
    newest: int

    def claim(self, engine: Engine, seconds: float = CLAIM_SECONDS) -> str | None:
        """Claim the newest closed match without a result; None if all have one.

        Args:
            engine: the store.
            seconds: how long no other worker may claim it.
        """
        results = schema.results
        # A worker of an earlier release stores nothing in the tables of a newer one.
        newest = select(results.c.match).where(is_current())
        newest = newest.order_by(results.c.closed.desc()).limit(self.newest)
        with reading(engine) as connection:
            matches = connection.execute(newest).scalars().all()
            begun = self._unavailable(connection, matches)
        match: str
        for match in matches:
            if match not in begun and self._claim(engine, match, seconds):
                return match
        return None

    def _unavailable(self, connection: Connection, matches: Any) -> set[str]:
        """Return which of these matches have a result, are given up or claimed."""
        columns = self.table.c
        query = select(columns.match).where(
            columns.match.in_(matches),
            columns.ended.is_not(None)
            | (columns.claimed_until > now())
            | (columns.attempts >= _ATTEMPTS),
        )
        return set(connection.execute(query).scalars())

    def _claim(self, engine: Engine, match: str, seconds: float) -> bool:
        results, columns = schema.results, self.table.c
        with writing(engine, "claim_idle_result") as connection:
            lock_rows(connection, select(schema.matches.c.id).where(schema.matches.c.id == match))
            closed = connection.execute(select(results.c.match).where(results.c.match == match))
            if closed.first() is None or self._unavailable(connection, [match]):
                return False
            until = now() + seconds
            again = connection.execute(
                update(self.table)
                .where(columns.match == match)
                .values(attempts=columns.attempts + 1, claimed_until=until)
            )
            if not again.rowcount:
                connection.execute(
                    insert(self.table).values(match=match, attempts=1, claimed_until=until)
                )
        return True

    def finish(
        self, engine: Engine, match: str, result: dict[str, Any] | None, reason: str = ""
    ) -> None:
        """Store a complete result; or None, and why it is not possible.

        Nothing happens if the match was voided meanwhile.
        """
        with writing(engine, "store_idle_result") as connection:
            connection.execute(
                update(self.table)
                .where(self.table.c.match == match, self.table.c.ended.is_(None))
                .values({self.content: result, "reason": reason, "ended": now()})
            )

    def find(self, engine: Engine, match: str) -> dict[str, Any] | None:
        """Return the result of a closed match; None before it is stored."""
        results, columns = schema.results, self.table.c
        query = (
            select(columns[self.content])
            .join(results, results.c.match == columns.match)
            .where(columns.match == match)
        )
        with reading(engine) as connection:
            result: dict[str, Any] | None = connection.execute(query).scalar_one_or_none()
        return result

    def of_tournaments(
        self, engine: Engine, tournaments: Collection[str]
    ) -> dict[str, dict[str, Any]]:
        """Return the results of the closed matches of some tournaments, by match."""
        columns, matches = self.table.c, schema.matches
        query = (
            select(columns.match, columns[self.content].label("result"))
            .join(matches, matches.c.id == columns.match)
            .where(matches.c.tournament.in_(tournaments), columns[self.content].is_not(None))
        )
        with reading(engine) as connection:
            return {row.match: row.result for row in connection.execute(query)}

    def remove(self, connection: Connection, match: str) -> None:
        """Delete the result of a match that is voided."""
        connection.execute(delete(self.table).where(self.table.c.match == match))

    def remove_of_tournaments(self, engine: Engine, tournaments: Collection[str]) -> None:
        """Delete the results of some tournaments; idle workers compute them again."""
        matches = schema.matches
        played = select(matches.c.id).where(matches.c.tournament.in_(tournaments))
        with writing(engine, "delete_idle_results") as connection:
            connection.execute(delete(self.table).where(self.table.c.match.in_(played)))


ANALYSES: Final = IdleResults(schema.analyses, "analysis", newest=200)
"""Analyses of play for replay pages (`arena.records.analysis.stored_form`)."""
LUCK: Final = IdleResults(schema.match_luck, "luck", newest=2_000)
"""Luck of each seat in each game (`arena.records.luck_adjustment.match_luck`)."""
ALL: Final = (ANALYSES, LUCK)
