"""Calls of models: reserve the worst case, store the measured figures, and add them up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, select, update

from arena.errors import Conflict
from arena.store import ids, schema
from arena.store.database import now, read_rows, reading, writing
from arena.store.postgresql import lock_decision

_DAY_SECONDS: Final = 86_400
MODELS_UNAVAILABLE: Final = "models-unavailable"
"""Code of a failure that pauses a match because its models cannot be called."""
STOPPED: Final = "models-stopped"
DAY_USED_UP: Final = "models-day-used-up"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls models: a version at a table."""

    owner: str
    version: str
    match: str
    attempt: int
    table: int


@dataclass(frozen=True, slots=True)
class CallFigures:
    """Tokens and price of a call."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """The tokens of input and output together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The calls of a version in a match, or of an owner on a day.

    Attributes:
        name: the version or the owner.
        model: the model.
        calls: number of calls.
        measured: how many of them have the figures of the endpoint, not the worst case.
        figures: the sums.
    """

    name: str
    model: str
    calls: int
    measured: int
    figures: CallFigures


def reserve_call(
    engine: Engine, caller: Caller, model: str, worst: CallFigures, day_tokens: int
) -> str:
    """Store a call with its worst case, before it is sent; return its id.

    Raises:
        Conflict: all calls are stopped (code `STOPPED`), or the rest of the owner's day does not
            cover the worst case (code `DAY_USED_UP`).
    """
    call = ids.model_call_id()
    with writing(engine, "reserve_call") as connection:
        lock_decision(connection, f"models of {caller.owner}")
        _check(connection, caller.owner, worst.tokens, day_tokens)
        connection.execute(
            insert(schema.model_calls).values(
                id=call,
                owner=caller.owner,
                version=caller.version,
                match=caller.match,
                attempt=caller.attempt,
                table=caller.table,
                model=model,
                at=now(),
                measured=0,
                **_columns(worst),
            )
        )
    return call


def settle_call(engine: Engine, call: str, figures: CallFigures) -> None:
    """Replace the worst case of a call by the figures of the endpoint."""
    calls = schema.model_calls
    with writing(engine, "settle_call") as connection:
        connection.execute(
            update(calls).where(calls.c.id == call).values(measured=1, **_columns(figures))
        )


def check_calls(engine: Engine, owner: str, tokens: int, day_tokens: int) -> None:
    """Check that an owner may use that many tokens today, before a match begins.

    Raises:
        Conflict: as for `reserve_call`.
    """
    with reading(engine) as connection:
        _check(connection, owner, tokens, day_tokens)


def match_usage(engine: Engine, match: str) -> tuple[ModelUsage, ...]:
    """Return the usage of the versions of a match, with all attempts."""
    calls = schema.model_calls
    return _usage(engine, calls.c.version, calls.c.match == match)


def usage_today(engine: Engine) -> tuple[ModelUsage, ...]:
    """Return the usage of the owners since midnight (UTC)."""
    calls = schema.model_calls
    with reading(engine) as connection:
        midnight = _midnight(connection)
    return _usage(engine, calls.c.owner, calls.c.at >= midnight)


def stop_calls(engine: Engine) -> bool:
    """Stop all calls until `resume_calls`; return False if they are stopped already."""
    with writing(engine, "stop_calls") as connection:
        lock_decision(connection, "stop of models")
        if _is_stopped(connection):
            return False
        connection.execute(insert(schema.model_stops).values(since=now()))
    return True


def resume_calls(engine: Engine) -> bool:
    """Allow calls again; return False if they are not stopped."""
    with writing(engine, "resume_calls") as connection:
        return connection.execute(delete(schema.model_stops)).rowcount > 0


def are_stopped(engine: Engine) -> bool:
    """Return whether all calls are stopped."""
    with reading(engine) as connection:
        return _is_stopped(connection)


def _check(connection: Connection, owner: str, tokens: int, day_tokens: int) -> None:
    if _is_stopped(connection):
        raise Conflict("the organiser has stopped all calls of models.", code=STOPPED)
    calls = schema.model_calls
    used = connection.execute(
        select(func.sum(calls.c.input_tokens + calls.c.output_tokens)).where(
            calls.c.owner == owner, calls.c.at >= _midnight(connection)
        )
    ).scalar_one()
    if (used or 0) + tokens > day_tokens:
        raise Conflict(
            f"the rest of today's tokens of {owner} is too small; the day ends at midnight (UTC).",
            code=DAY_USED_UP,
        )


def _is_stopped(connection: Connection) -> bool:
    return connection.execute(select(schema.model_stops).limit(1)).first() is not None


def _midnight(connection: Connection) -> float:
    at: float = connection.execute(select(now())).scalar_one()
    return math.floor(at / _DAY_SECONDS) * _DAY_SECONDS


def _columns(figures: CallFigures) -> dict[str, float]:
    return {
        "input_tokens": figures.input_tokens,
        "output_tokens": figures.output_tokens,
        "cost": figures.cost,
    }


def _usage(
    engine: Engine, name: ColumnElement[str], condition: ColumnElement[bool]
) -> tuple[ModelUsage, ...]:
    calls = schema.model_calls
    sums = [
        func.sum(column)
        for column in (calls.c.measured, calls.c.input_tokens, calls.c.output_tokens, calls.c.cost)
    ]
    query = (
        select(name, calls.c.model, func.count(), *sums)
        .where(condition)
        .group_by(name, calls.c.model)
        .order_by(name, calls.c.model)
    )
    return tuple(
        ModelUsage(row[0], row[1], row[2], row[3], CallFigures(row[4], row[5], row[6]))
        for row in read_rows(engine, query)
    )
