"""Tasks: work that one process at a time does, in any process, and again after a kill.

| function | transition |
| --- | --- |
| `claim` | the oldest open task of a queue gets its next attempt; the queue is held meanwhile |
| `fail` | the claim ends; the queue is held for a pause, then the task is attempted again |
| `finish` | the claim ends; the task is over |

The claim of a killed process lapses, and another process begins again. The attempt number is the
fencing token: only the newest attempt can write. All times are the database's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    delete,
    insert,
    select,
    update,
)

from arena.store import schema
from arena.store.database import is_current, now
from arena.store.postgresql import lock_decision
from arena.store.schema import TaskKind

_LONGEST_SECONDS: Final = 28_800.0
"""Bound of claims and pauses; one that ends later began before a step of the clock."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task, with the result of its last attempt, or the reason of its failure."""

    kind: TaskKind
    key: str
    queue: str
    created: float
    attempt: int
    held_until: float
    ended: float | None
    result: dict[str, Any] | None
    reason: str


def is_free(kind: TaskKind, queue: str | ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that no task of a queue is claimed, and the queue does not pause."""
    table = schema.tasks.alias()
    held = select(table.c.key).where(
        table.c.kind == kind,
        table.c.queue == queue,
        table.c.held_until.between(now(), now() + _LONGEST_SECONDS),
    )
    # A process of an earlier release writes nothing in the tables of a newer one.
    return and_(~held.exists(), is_current())


def of_queue(kind: TaskKind, queue: str | ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a task belongs to a queue."""
    return and_(schema.tasks.c.kind == kind, schema.tasks.c.queue == queue)


def is_open(kind: TaskKind, queue: str | ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a task belongs to a queue and is not over."""
    return and_(of_queue(kind, queue), schema.tasks.c.ended.is_(None))


def add_tasks(
    connection: Connection,
    kind: TaskKind,
    queue: str,
    created: Mapping[str, float],
    **values: object,
) -> None:
    """Add tasks to a queue.

    Args:
        connection: a writing transaction.
        created: for each key, the time that orders the queue.
        values: other columns than those of a new task.
    """
    new = {"kind": kind, "queue": queue, "attempt": 0, "held_until": 0.0, **values}
    rows = [{**new, "key": key, "created": at} for key, at in created.items()]
    if rows:
        connection.execute(insert(schema.tasks), rows)


def claim(connection: Connection, kind: TaskKind, queue: str, seconds: float) -> Task | None:
    """Claim the oldest open task of a queue for some seconds; None if it has none or is held."""
    table = schema.tasks
    lock_decision(connection, f"{kind} {queue}")
    oldest = (
        select(table)
        .where(is_open(kind, queue), is_free(kind, queue))
        .order_by(table.c.created, table.c.key)
        .limit(1)
    )
    row = connection.execute(oldest).one_or_none()
    if row is None:
        return None
    task = replace(task_of(row), attempt=row.attempt + 1)
    begun = {"attempt": task.attempt, "held_until": now() + seconds}
    connection.execute(update(table).where(*_has_key(task)).values(**begun))
    return task


def fail(
    connection: Connection, task: Task, result: dict[str, Any] | None, reason: str, pause: float
) -> bool:
    """End a claim, and hold the queue for some seconds; False if a newer attempt has begun."""
    return _end_claim(connection, task, pause, result=result, reason=reason)


def finish(
    connection: Connection,
    task: Task,
    result: dict[str, Any] | None,
    reason: str = "",
    pause: float = 0.0,
) -> bool:
    """Store the result of a task, or the reason why it has no result; False as in `fail`."""
    return _end_claim(connection, task, pause, result=result, reason=reason, ended=now())


def resume_queue(connection: Connection, kind: TaskKind, queue: str) -> None:
    """End the pause of a queue."""
    table = schema.tasks
    held = update(table).where(of_queue(kind, queue), table.c.held_until > now())
    connection.execute(held.values(held_until=now()))


def remove_queues(
    connection: Connection, kinds: Sequence[TaskKind], queues: Sequence[str] | Select[str]
) -> None:
    """Delete the tasks of some queues, with their results."""
    table = schema.tasks
    of_these = (table.c.kind.in_(kinds), table.c.queue.in_(queues))
    connection.execute(delete(table).where(*of_these))


def task_of(row: Row[Any]) -> Task:
    return Task(**{**row._mapping, "kind": TaskKind(row.kind)})


def _has_key(task: Task) -> tuple[ColumnElement[bool], ...]:
    return (schema.tasks.c.kind == task.kind, schema.tasks.c.key == task.key)


def _end_claim(connection: Connection, task: Task, pause: float, **values: object) -> bool:
    table = schema.tasks
    ended = connection.execute(
        update(table)
        .where(*_has_key(task), table.c.attempt == task.attempt, table.c.ended.is_(None))
        .values(held_until=now() + pause, **values)
    )
    return ended.rowcount == 1
