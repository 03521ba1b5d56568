"""Tasks: work that one process at a time does, in any process, and again after a kill.

| function | transition |
| --- | --- |
| `claim` | a task that is due gets its next attempt; it is not due until the claim ends |
| `release` | the claim ends; the task is due again after a pause |
| `finish` | the task is over and has its result |
| `remove_tasks` | the task is forgotten, with its result |

The claim of a killed process ends at its time, and another process begins again. The attempt number
is the fencing token: only the newest attempt releases or finishes its task. All times are the
database's. A task has no row before its first claim.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    delete,
    false,
    insert,
    literal,
    or_,
    select,
    update,
)

from arena.store import schema
from arena.store.database import is_current, now
from arena.store.postgresql import lock_decision
from arena.store.schema import TaskKind

_LONGEST_SECONDS: Final = 28_800.0
"""Bound of claims and pauses; one that ends later was made before a step of the clock."""


class Task(NamedTuple):
    """A claimed task.

    Attributes:
        kind: the kind of work.
        key: id of the match that it concerns.
        attempt: number of this claim, from 1.
    """

    kind: TaskKind
    key: str
    attempt: int


def is_due(
    kind: TaskKind, key: ColumnElement[str], attempts: int | None = None
) -> ColumnElement[bool]:
    """Return the condition that a task can be claimed.

    Args:
        kind: its kind.
        key: its key, for example a column of the outer query.
        attempts: maximum number of attempts; None: unlimited.
    """
    table = schema.tasks
    barred = or_(
        table.c.ended.is_not(None),
        table.c.due.between(now(), now() + _LONGEST_SECONDS),
        false() if attempts is None else table.c.attempt >= attempts,
    )
    query = select(table.c.key).where(table.c.kind == kind, table.c.key == key, barred)
    # A process of an earlier release writes nothing in the tables of a newer one.
    return and_(~query.exists(), is_current())


def claim(
    connection: Connection, kind: TaskKind, key: str, seconds: float, attempts: int | None = None
) -> Task | None:
    """Claim a task for some seconds; None if it is not due."""
    table = schema.tasks
    lock_decision(connection, f"{kind} {key}")
    if not connection.execute(select(is_due(kind, literal(key), attempts))).scalar_one():
        return None
    of_task, due = (table.c.kind == kind, table.c.key == key), now() + seconds
    before = connection.execute(select(table.c.attempt).where(*of_task)).scalar_one_or_none() or 0
    if before:
        again = update(table).where(*of_task).values(attempt=before + 1, due=due)
        connection.execute(again)
    else:
        connection.execute(insert(table).values(kind=kind, key=key, attempt=1, due=due))
    return Task(kind, key, before + 1)


def release(connection: Connection, task: Task, pause: float = 0.0) -> bool:
    """End a claim, and pause the task for some seconds; False if a newer attempt has begun."""
    return _change(connection, task, due=now() + pause)


def finish(
    connection: Connection, task: Task, result: dict[str, Any] | None, reason: str = ""
) -> bool:
    """Store the result of a task, or None and why there is none; False as in `release`."""
    return _change(connection, task, result=result, reason=reason, ended=now())


def remove_tasks(
    connection: Connection, kinds: Iterable[TaskKind], keys: Iterable[str] | Select[str]
) -> None:
    """Delete the tasks of some kinds and keys, with their results."""
    table = schema.tasks
    keys = keys if isinstance(keys, Select) else list(keys)
    of_these = (table.c.kind.in_(list(kinds)), table.c.key.in_(keys))
    connection.execute(delete(table).where(*of_these))


def _change(connection: Connection, task: Task, **values: object) -> bool:
    table = schema.tasks
    newest = and_(
        table.c.kind == task.kind,
        table.c.key == task.key,
        table.c.attempt == task.attempt,
        table.c.ended.is_(None),
    )
    return connection.execute(update(table).where(newest).values(**values)).rowcount == 1
