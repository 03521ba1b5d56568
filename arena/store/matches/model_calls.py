"""Calls of models: reserve the worst case, store the measured figures, and add them up."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, or_, select, update

from arena.errors import Conflict
from arena.ratings.call_figures import CallFigures
from arena.store import ids, schema
from arena.store.database import now, read_rows, reading, writing
from arena.store.postgresql import lock_decision
from arena.store.schema import MatchState

_DAY_SECONDS: Final = 86_400
MODELS_UNAVAILABLE: Final = "models-unavailable"
"""Code of a failure that pauses a match because its models cannot be called."""
STOPPED: Final = "models-stopped"
DAY_USED_UP: Final = "models-day-used-up"
_RESERVATION: Final = ""
"""The model of a row that contains the tokens of a running match that no call has used yet."""
_LARGEST_RESERVATION: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls models: a version at a table."""

    owner: str
    version: str
    match: str
    attempt: int
    table: int


@dataclass(frozen=True, slots=True)
class CallPlace:
    """The decision during which a call arrives.

    Attributes:
        seat: number of the seat.
        game: number of the game; None outside of a decision, and if the bot has several questions.
        decision: number of the decision within the game.
    """

    seat: int
    game: int | None = None
    decision: int | None = None


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The calls of a model by a version.

    Attributes:
        owner: the owner; the name of the bot if it has none.
        version: ``name@number``.
        calls: number of calls.
        measured: how many of them have the figures of the endpoint, not the worst case.
    """

    owner: str
    version: str
    model: str
    calls: int
    measured: int
    figures: CallFigures

    def to_json(self) -> dict[str, Any]:
        """Return what was called as JSON values."""
        counts = {"model": self.model, "calls": self.calls, "measured": self.measured}
        return counts | asdict(self.figures)


def reserve_call(
    engine: Engine,
    caller: Caller,
    place: CallPlace,
    model: str,
    worst: CallFigures,
    day_tokens: int,
) -> str:
    """Store a call with its worst case, before it is sent; return its id.

    The reservation of the match covers the call, so that the calls of other matches cannot pause
    it. Only what exceeds the reservation is compared with the rest of the day.

    Raises:
        Conflict: all calls are stopped (code `STOPPED`), or the rest of the owner's day does not
            cover the worst case (code `DAY_USED_UP`).
    """
    call = ids.model_call_id()
    with writing(engine, "reserve_call") as connection:
        lock_decision(connection, f"models of {caller.owner}")
        covered = min(_reserved(connection, caller), worst.tokens)
        _check_stop(connection)
        if covered < worst.tokens:
            _check_day(connection, caller.owner, worst.tokens - covered, day_tokens)
        _change_reservation(connection, caller, -covered)
        _insert(connection, call, caller, place, model, worst)
    return call


def settle_call(engine: Engine, call: str, figures: CallFigures) -> None:
    """Replace the worst case of a call by the figures of the endpoint."""
    calls = schema.model_calls
    with writing(engine, "settle_call") as connection:
        row = connection.execute(select(calls).where(calls.c.id == call)).one()
        connection.execute(
            update(calls).where(calls.c.id == call).values(measured=1, **asdict(figures))
        )
        caller = Caller(row.owner, row.version, row.match, row.attempt, row.table)
        unused = row.input_tokens + row.output_tokens - figures.tokens
        _change_reservation(connection, caller, max(0, unused))


def reserve_match(
    engine: Engine,
    match: str,
    attempt: int,
    owners: Mapping[str, str],
    tokens: int,
    day_tokens: int,
) -> None:
    """Take the tokens of a match from the days of its owners, before its first call.

    This replaces the reservation of an attempt that was killed. A reservation that is never
    released counts until midnight (UTC).

    Args:
        owners: the owner of each version that may use models.
        tokens: the tokens of each version, at most the day's share of it.

    Raises:
        Conflict: as for `reserve_call`.
    """
    calls = schema.model_calls
    held = list(owners.values())
    with writing(engine, "reserve_match") as connection:
        for owner in sorted(set(held)):
            lock_decision(connection, f"models of {owner}")
        _check_stop(connection)
        connection.execute(
            delete(calls).where(calls.c.match == match, calls.c.model == _RESERVATION)
        )
        for version, owner in owners.items():
            share = min(tokens, day_tokens // held.count(owner), _LARGEST_RESERVATION)
            _check_day(connection, owner, share, day_tokens)
            caller = Caller(owner, version, match, attempt, 0)
            place, call = CallPlace(0), ids.model_call_id()
            _insert(connection, call, caller, place, _RESERVATION, CallFigures(share))


def release_match(engine: Engine, match: str, attempt: int) -> None:
    """Return the tokens that an attempt at a match has not used."""
    calls = schema.model_calls
    of_attempt = (calls.c.match == match, calls.c.attempt == attempt)
    with writing(engine, "release_match") as connection:
        connection.execute(delete(calls).where(*of_attempt, calls.c.model == _RESERVATION))


def check_calls(engine: Engine, owner: str, tokens: int, day_tokens: int, match: str = "") -> None:
    """Check that an owner may use that many tokens today, before a match begins.

    A reservation of this match itself does not count.

    Raises:
        Conflict: as for `reserve_call`.
    """
    with reading(engine) as connection:
        _check_stop(connection)
        _check_day(connection, owner, tokens, day_tokens, match)


def match_usage(engine: Engine, match: str) -> Mapping[str, CallFigures]:
    """Return the usage of each version of a match, with all attempts."""
    return _version_usage(engine, schema.model_calls.c.match == match)


def decision_usage(
    engine: Engine, match: str, game: int, versions: Collection[str] | None
) -> Mapping[CallPlace, ModelUsage]:
    """Return the usage for each decision of a game, in the last attempt that called models for it.

    Args:
        versions: only the calls of these versions; None: of all.
    """
    calls = schema.model_calls
    of_game = [calls.c.match == match, calls.c.game == game]
    # An earlier attempt has not finished the game.
    last = select(func.max(calls.c.attempt)).where(*of_game).scalar_subquery()
    if versions is not None:
        of_game.append(calls.c.version.in_(versions))
    place = calls.c["seat", "game", "decision"]
    counts = (func.max(calls.c.model), func.count(), func.sum(calls.c.measured))
    query = (
        select(*place, func.max(calls.c.owner), calls.c.version, *counts, *_sums())
        .where(*of_game, calls.c.attempt == last)
        .group_by(*place, calls.c.version)
        .order_by(*place)
    )
    return {CallPlace(*row[:3]): _usage_of_row(row[3:]) for row in read_rows(engine, query)}


def tournament_usage(engine: Engine, tournaments: Collection[str]) -> Mapping[str, CallFigures]:
    """Return the usage of each version in the closed matches of tournaments, with all attempts."""
    matches = schema.matches
    closed = select(matches.c.id).where(
        matches.c.tournament.in_(tournaments), matches.c.state == MatchState.CLOSED
    )
    return _version_usage(engine, schema.model_calls.c.match.in_(closed))


def usage_per_game(engine: Engine, name: str) -> tuple[str, CallFigures] | None:
    """Return the version of a bot that has called models last, and its mean usage of a game."""
    calls = schema.model_calls
    of_bot = (calls.c.version.startswith(f"{name}@", autoescape=True), calls.c.game.is_not(None))
    newest = select(calls.c.version).where(*of_bot).order_by(calls.c.at.desc()).limit(1)
    with reading(engine) as connection:
        version = connection.execute(newest).scalar()
        query = (
            select(*_sums())
            .where(calls.c.version == version, calls.c.game.is_not(None))
            .group_by(calls.c.match, calls.c.game)
        )
        games = [CallFigures(*row) for row in connection.execute(query)]
    if version is None:
        return None
    return version, CallFigures(
        round(sum(each.input_tokens for each in games) / len(games)),
        round(sum(each.output_tokens for each in games) / len(games)),
        sum(each.cost for each in games) / len(games),
    )


def recent_usage(engine: Engine, days: int = 1) -> tuple[ModelUsage, ...]:
    """Return the usage of the last days (UTC), the present one included, by owner and version."""
    calls = schema.model_calls
    by = calls.c["owner", "version", "model"]
    with reading(engine) as connection:
        since = _midnight(connection) - (days - 1) * _DAY_SECONDS
        query = (
            select(*by, func.count(), func.sum(calls.c.measured), *_sums())
            .where(calls.c.at >= since, calls.c.model != _RESERVATION)
            .group_by(*by)
            .order_by(*by)
        )
        return tuple(map(_usage_of_row, connection.execute(query)))


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
    with reading(engine) as connection:
        return _is_stopped(connection)


def _check_stop(connection: Connection) -> None:
    if _is_stopped(connection):
        raise Conflict("the organiser has stopped all calls of models.", code=STOPPED)


def _check_day(
    connection: Connection, owner: str, tokens: int, day_tokens: int, match: str = ""
) -> None:
    """Check the rest of an owner's day; the reservation of a match may be left out."""
    calls = schema.model_calls
    used = connection.execute(
        select(func.sum(calls.c.input_tokens + calls.c.output_tokens)).where(
            calls.c.owner == owner,
            calls.c.at >= _midnight(connection),
            or_(calls.c.model != _RESERVATION, calls.c.match != match),
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


def _of_reservation(caller: Caller) -> tuple[ColumnElement[bool], ...]:
    calls = schema.model_calls
    return (
        calls.c.match == caller.match,
        calls.c.model == _RESERVATION,
        calls.c.version == caller.version,
        calls.c.attempt == caller.attempt,
    )


def _reserved(connection: Connection, caller: Caller) -> int:
    """Return the tokens of a version that its match has reserved and not used; 0 without."""
    query = select(schema.model_calls.c.input_tokens).where(*_of_reservation(caller))
    return connection.execute(query).scalar() or 0


def _change_reservation(connection: Connection, caller: Caller, tokens: int) -> None:
    calls = schema.model_calls
    connection.execute(
        update(calls)
        .where(*_of_reservation(caller))
        .values(input_tokens=calls.c.input_tokens + tokens)
    )


def _insert(
    connection: Connection,
    call: str,
    caller: Caller,
    place: CallPlace,
    model: str,
    figures: CallFigures,
) -> None:
    values: dict[str, Any] = {
        "id": call,
        **asdict(caller),
        **asdict(place),
        "model": model,
        "at": now(),
        "measured": 0,
        **asdict(figures),
    }
    connection.execute(insert(schema.model_calls).values(values))


def _sums() -> list[ColumnElement[Any]]:
    """Return the sums of the figures, in the order of `CallFigures`."""
    calls = schema.model_calls
    return [func.sum(calls.c[each.name]) for each in fields(CallFigures)]


def _version_usage(engine: Engine, condition: ColumnElement[bool]) -> Mapping[str, CallFigures]:
    calls = schema.model_calls
    query = (
        select(calls.c.version, *_sums())
        .where(condition, calls.c.model != _RESERVATION)
        .group_by(calls.c.version)
    )
    return {row[0]: CallFigures(*row[1:]) for row in read_rows(engine, query)}


def _usage_of_row(row: Sequence[Any]) -> ModelUsage:
    return ModelUsage(row[0], row[1], row[2], row[3], row[4], CallFigures(*row[5:]))
