"""Gauges of the store's current state, for monitoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Engine, Table, and_, case, false, func, not_, or_, select

from arena.store import schema
from arena.store.access import audit_log
from arena.store.bots import pushed_versions
from arena.store.database import now, reading
from arena.store.matches import lease_times, offline_bot_waits, transitions
from arena.store.matches.lease_times import LEASE_SECONDS
from arena.store.schema import (
    OPEN,
    UNDECIDED,
    MatchState,
    SubmissionState,
    TaskKind,
    TournamentState,
)

PENDING: Final = "pending"
"""Due: a worker may take it now."""
HELD: Final = "held"
"""Its tournament is paused."""
ABSENT: Final = "absent"
"""Waits for an absent remote bot."""
BARRED: Final = "barred"
"""Waits for a worker with a sufficient sandbox for pushed bots, or with the package of its game."""
RETRYING: Final = "retrying"
"""Waits for its next attempt after a failure of the arena."""
RUNNING: Final = "running"
LAPSED: Final = "lapsed"
"""Due again, because the worker did not renew its lease in time."""
STATES: Final = (PENDING, HELD, ABSENT, BARRED, RETRYING, RUNNING, LAPSED)


@dataclass(frozen=True, slots=True)
class StoreGauges:
    """The state of the store at one moment.

    Attributes:
        open: numbers of open matches by their state, one of `STATES`.
        due_models: number of the open matches of the clock class `model` that are due.
        lease_age: seconds since the least recently renewed lease was renewed; 0 without leases.
        attempt_age: seconds since the oldest running attempt began; 0 without one.
        tournaments: numbers of running and paused tournaments.
        submissions: numbers of undecided submissions, by state.
        submission_age: seconds since the oldest waiting submission was sent; 0 without one.
        remotes: numbers of remote bots that are connected ("here") and absent ("away").
        quarantined: versions in quarantine that are not retired.
        webhooks: numbers of enabled and disabled webhooks.
        deliveries: numbers of waiting webhook deliveries, and of those that failed for good in the
            last 30 days.
        delivery_age: seconds since the event of the oldest waiting delivery; 0 without one.
        failures: attempts that the arena itself ended, since the store was created.
        backup_age: seconds since the last backup; without one, since the first bot was added.
    """

    open: Mapping[str, int]
    due_models: int
    lease_age: float
    attempt_age: float
    tournaments: Mapping[str, int]
    submissions: Mapping[str, int]
    submission_age: float
    remotes: Mapping[str, int]
    quarantined: int
    webhooks: Mapping[str, int]
    deliveries: Mapping[str, int]
    delivery_age: float
    failures: int
    backup_age: float


def read_gauges(
    engine: Engine,
    lease_seconds: float = LEASE_SECONDS,
    *,
    pushed: bool = True,
    without: Sequence[str] = (),
) -> StoreGauges:
    """Read all gauges in one transaction.

    Args:
        engine: the store.
        lease_seconds: the duration of the workers' leases, from which `lease_age` is computed: the
            store contains only the time at which a lease ends.
        pushed: whether a worker may play pushed versions.
        without: games that no worker may play.
    """
    with reading(engine) as connection:
        leases, attempts = _ages(connection, lease_seconds)
        open_matches = _open(connection, pushed, without)
        others, models = open_matches[False], open_matches[True]
        return StoreGauges(
            open={state: others[state] + models[state] for state in STATES},
            due_models=models[PENDING] + models[LAPSED],
            lease_age=leases,
            attempt_age=attempts,
            tournaments=_tournaments(connection),
            submissions=_submissions(connection),
            submission_age=_submission_age(connection),
            remotes=_remotes(connection),
            quarantined=_quarantined(connection),
            webhooks=_webhooks(connection),
            deliveries=_deliveries(connection),
            delivery_age=_delivery_age(connection),
            failures=_count(connection, schema.failures),
            backup_age=_backup_age(connection),
        )


def _open(connection: Connection, pushed: bool, without: Sequence[str]) -> dict[bool, Counter[str]]:
    """Count open matches by their state, for the clock class `model` (True) and the others."""
    matches, tournaments = schema.matches, schema.tournaments
    # The subquery reads the clock once, not for each of the matches.
    at = select(now()).scalar_subquery()
    is_running = matches.c.state == MatchState.RUNNING
    is_barred = or_(
        tournaments.c.game.in_(without),
        false() if pushed else not_(pushed_versions.has_no_pushed_version()),
    )
    word = case(
        (and_(is_running, not_(lease_times.is_lapsed(at))), RUNNING),
        (tournaments.c.state == TournamentState.PAUSED, HELD),
        (not_(offline_bot_waits.is_ready(at)), ABSENT),
        (is_barred, BARRED),
        (is_running, LAPSED),
        (not_(lease_times.may_be_tried(at)), RETRYING),
        else_=PENDING,
    )
    words = (
        select(word.label("word"), transitions.has_model_clock().label("models"))
        .select_from(matches.join(tournaments, tournaments.c.id == matches.c.tournament))
        .where(matches.c.state.in_(OPEN))
        .subquery()
    )
    query = select(words.c.word, words.c.models, func.count())
    counted = {False: Counter[str](), True: Counter[str]()}
    for state, models, number in connection.execute(query.group_by(words.c.word, words.c.models)):
        counted[bool(models)][str(state)] = int(number)
    return counted


def _ages(connection: Connection, lease_seconds: float) -> tuple[float, float]:
    matches = schema.matches
    query = select(
        now() + lease_seconds - func.min(matches.c.lease_until), now() - func.min(matches.c.leased)
    ).where(matches.c.state == MatchState.RUNNING)
    renewed, began = connection.execute(query).one()
    return max(0.0, float(renewed or 0)), max(0.0, float(began or 0))


def _tournaments(connection: Connection) -> dict[str, int]:
    table = schema.tournaments
    states = (TournamentState.RUNNING, TournamentState.PAUSED)
    query = select(table.c.state, func.count()).where(table.c.state.in_(states))
    rows = connection.execute(query.group_by(table.c.state))
    return {**dict.fromkeys(map(str, states), 0), **{str(state): int(n) for state, n in rows}}


def _submissions(connection: Connection) -> dict[str, int]:
    table = schema.submissions
    query = select(table.c.state, func.count()).where(table.c.state.in_(UNDECIDED))
    rows = connection.execute(query.group_by(table.c.state))
    return {**dict.fromkeys(map(str, UNDECIDED), 0), **{str(state): int(n) for state, n in rows}}


def _submission_age(connection: Connection) -> float:
    table = schema.submissions
    query = select(now() - func.min(table.c.created)).where(
        table.c.state == SubmissionState.WAITING
    )
    return max(0.0, float(connection.execute(query).scalar_one() or 0))


def _remotes(connection: Connection) -> dict[str, int]:
    remotes, versions = schema.remotes, schema.versions
    is_there = remotes.c.until > now()
    query = (
        select(is_there, func.count())
        .select_from(remotes.join(versions, versions.c.id == remotes.c.version))
        .where(versions.c.retired.is_(None))
        .group_by(is_there)
    )
    counts = {bool(there): int(number) for there, number in connection.execute(query)}
    return {"here": counts.get(True, 0), "away": counts.get(False, 0)}


def _quarantined(connection: Connection) -> int:
    versions = schema.versions
    query = select(func.count()).where(
        versions.c.quarantined.is_not(None), versions.c.retired.is_(None)
    )
    return int(connection.execute(query).scalar_one())


def _webhooks(connection: Connection) -> dict[str, int]:
    is_disabled = schema.webhooks.c.disabled.is_not(None)
    rows = connection.execute(select(is_disabled, func.count()).group_by(is_disabled))
    counts = {bool(disabled): int(number) for disabled, number in rows}
    return {"enabled": counts.get(False, 0), "disabled": counts.get(True, 0)}


def _deliveries(connection: Connection) -> dict[str, int]:
    table = schema.tasks
    waits = table.c.ended.is_(None)
    shown = (table.c.kind == TaskKind.DELIVERY, or_(waits, table.c.reason != ""))
    rows = connection.execute(select(waits, func.count()).where(*shown).group_by(waits))
    counts = {bool(is_waiting): int(number) for is_waiting, number in rows}
    return {"waiting": counts.get(True, 0), "failed": counts.get(False, 0)}


def _delivery_age(connection: Connection) -> float:
    table = schema.tasks
    waiting = (table.c.kind == TaskKind.DELIVERY, table.c.ended.is_(None))
    query = select(now() - func.min(table.c.created)).where(*waiting)
    return max(0.0, float(connection.execute(query).scalar_one() or 0))


def _backup_age(connection: Connection) -> float:
    entries, versions = schema.audit_log, schema.versions
    latest = select(func.max(entries.c.at)).where(entries.c.action == audit_log.BACKUP)
    first = select(func.min(versions.c.created))
    since = func.coalesce(latest.scalar_subquery(), first.scalar_subquery())
    return max(0.0, float(connection.execute(select(now() - since)).scalar_one() or 0))


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())
