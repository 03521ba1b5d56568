"""Tasks of idle workers on the records of closed matches, from the newest match on.

A match is given up after three attempts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Engine, select

from arena.store import schema, tasks
from arena.store.database import read_rows, writing
from arena.store.postgresql import lock_rows
from arena.store.schema import TaskKind
from arena.store.tasks import Task

CLAIM_SECONDS: Final = 3_600.0
"""Time after which an unfinished computation can be begun again."""
_ATTEMPTS: Final = 3


@dataclass(frozen=True)
class IdleResults:
    """One kind of results of closed matches.

    Attributes:
        newest: number of newest closed matches that are considered; older ones stay as they are.
    """

    kind: TaskKind
    newest: int

    def claim(self, engine: Engine, seconds: float = CLAIM_SECONDS) -> Task | None:
        """Claim the newest closed match without a result; None if all have one.

        Args:
            seconds: how long no other worker may claim it.
        """
        results, table = schema.results, schema.tasks
        newest = select(*results.c["match", "closed"]).order_by(results.c.closed.desc())
        closed = newest.limit(self.newest).subquery()
        ended = select(table.c.key).where(
            tasks.of_queue(self.kind, closed.c.match), table.c.ended.is_not(None)
        )
        due = select(closed.c.match).where(
            tasks.is_free(self.kind, closed.c.match), ~ended.exists()
        )
        matches = read_rows(engine, due.order_by(closed.c.closed.desc())).scalars().all()
        for match in matches:
            if task := self._claim(engine, match, seconds):
                return task
        return None

    def _claim(self, engine: Engine, match: str, seconds: float) -> Task | None:
        results, matches, table = schema.results, schema.matches, schema.tasks
        with writing(engine, "claim_idle_result") as connection:
            lock_rows(connection, select(matches.c.id).where(matches.c.id == match))
            of_match = select(results.c.closed).where(results.c.match == match)
            closed = connection.execute(of_match).scalar_one_or_none()
            if closed is None:
                return None
            known = select(table.c.key).where(tasks.of_queue(self.kind, match))
            if connection.execute(known).first() is None:
                tasks.add_tasks(connection, self.kind, match, {match: closed})
            task = tasks.claim(connection, self.kind, match, seconds)
            if task is not None and task.attempt > _ATTEMPTS:
                tasks.finish(connection, task, None, "no attempt was finished")
                return None
        return task

    def finish(
        self, engine: Engine, task: Task, result: dict[str, Any] | None, reason: str = ""
    ) -> None:
        """Store a complete result; or None, and why it is not possible.

        Nothing happens if the match was voided, or another worker has begun again.
        """
        with writing(engine, "store_idle_result") as connection:
            tasks.finish(connection, task, result, reason)

    def find(self, engine: Engine, match: str) -> dict[str, Any] | None:
        """Return the result of a closed match; None before it is stored."""
        results, table = schema.results, schema.tasks
        query = (
            select(table.c.result)
            .join(results, results.c.match == table.c.key)
            .where(table.c.kind == self.kind, table.c.key == match)
        )
        result: dict[str, Any] | None = read_rows(engine, query).scalar_one_or_none()
        return result

    def of_tournaments(
        self, engine: Engine, tournaments: Collection[str]
    ) -> dict[str, dict[str, Any]]:
        """Return the results of the closed matches of some tournaments, by match."""
        table, matches = schema.tasks, schema.matches
        query = (
            select(*table.c["key", "result"])
            .join(matches, matches.c.id == table.c.key)
            .where(
                table.c.kind == self.kind,
                table.c.result.is_not(None),
                matches.c.tournament.in_(tournaments),
            )
        )
        return {row.key: row.result for row in read_rows(engine, query)}

    def remove_of_tournaments(self, engine: Engine, tournaments: Collection[str]) -> None:
        """Delete the results of some tournaments; idle workers compute them again."""
        matches = schema.matches
        played = select(matches.c.id).where(matches.c.tournament.in_(tournaments))
        with writing(engine, "delete_idle_results") as connection:
            tasks.remove_queues(connection, [self.kind], played)


ANALYSES: Final = IdleResults(TaskKind.ANALYSIS, newest=200)
"""Analyses of play for replay pages (`arena.records.analysis.stored_form`)."""
LUCK: Final = IdleResults(TaskKind.LUCK, newest=2_000)
"""Luck of each seat in each game (`arena.records.luck_adjustment.match_luck`)."""
