"""Gauges of the store's current state (`arena.services.metric_definitions`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Table,
    and_,
    case,
    false,
    func,
    literal,
    not_,
    or_,
    select,
)

from arena.services import metric_definitions as metrics
from arena.services.metric_definitions import Metric
from arena.store import schema
from arena.store.access import audit_log
from arena.store.bots import pushed_versions
from arena.store.database import now, reading
from arena.store.matches import lease_times, match_leases, offline_bot_waits
from arena.store.matches.lease_times import LEASE_SECONDS
from arena.store.schema import (
    OPEN,
    UNDECIDED,
    MatchState,
    SubmissionState,
    TaskKind,
    TournamentState,
)

Values = Mapping[tuple[str, ...], float]
"""The values of a gauge by the values of its labels."""

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


def read_gauges(
    engine: Engine, *, pushed: bool = True, without: Sequence[str] = ()
) -> dict[Metric, Values]:
    """Read all gauges in one transaction.

    Args:
        pushed: whether a worker may play pushed versions.
        without: games that no worker may play.
    """
    with reading(engine) as connection:
        gauges: dict[Metric, Values] = dict(_open_matches(connection, pushed, without))
        gauges |= _matches(connection)
        gauges |= _others(connection)
        return gauges


def _open_matches(
    connection: Connection, pushed: bool, without: Sequence[str]
) -> Iterator[tuple[Metric, Values]]:
    by_class = _open(connection, pushed, without)
    others, models = by_class[False], by_class[True]
    yield metrics.OPEN, {(state,): others[state] + models[state] for state in STATES}
    yield (
        metrics.DUE,
        {(): sum(group[state] for group in by_class.values() for state in (PENDING, LAPSED))},
    )
    yield metrics.DUE_MODELS, {(): models[PENDING] + models[LAPSED]}


def _matches(connection: Connection) -> Iterator[tuple[Metric, Values]]:
    matches, failures = schema.matches, schema.failures
    is_running = matches.c.state == MatchState.RUNNING
    # The store contains only the time at which a lease ends.
    renewed = func.min(matches.c.lease_until) - LEASE_SECONDS
    yield metrics.LEASE_AGE, _age(connection, renewed, is_running)
    yield metrics.ATTEMPT_AGE, _age(connection, func.min(matches.c.leased), is_running)
    yield metrics.FAILURES, _count(connection, failures)


def _others(connection: Connection) -> Iterator[tuple[Metric, Values]]:
    tournaments, sent, versions = schema.tournaments, schema.submissions, schema.versions
    remotes, webhooks, tasks = schema.remotes, schema.webhooks, schema.tasks
    unfinished = (TournamentState.RUNNING, TournamentState.PAUSED)
    yield metrics.TOURNAMENTS, _counts(connection, tournaments.c.state, unfinished)
    yield metrics.SUBMISSIONS, _counts(connection, sent.c.state, UNDECIDED)
    waits = sent.c.state == SubmissionState.WAITING
    yield metrics.SUBMISSION_AGE, _age(connection, func.min(sent.c.created), waits)
    active = select(versions.c.id).where(versions.c.retired.is_(None))
    there = case((remotes.c.until > now(), literal("here")), else_=literal("away"))
    is_active = remotes.c.version.in_(active)
    yield metrics.REMOTES, _counts(connection, there, ("here", "away"), is_active)
    yield (
        metrics.QUARANTINED,
        _count(
            connection, versions, versions.c.quarantined.is_not(None), versions.c.id.in_(active)
        ),
    )
    use = case((webhooks.c.disabled.is_(None), literal("enabled")), else_=literal("disabled"))
    yield metrics.WEBHOOKS, _counts(connection, use, ("enabled", "disabled"))
    is_delivery, is_open = tasks.c.kind == TaskKind.DELIVERY, tasks.c.ended.is_(None)
    # Failed ones are deleted after 30 days.
    word = case(
        (is_open, literal("waiting")), (tasks.c.reason != "", literal("failed")), else_=literal("")
    )
    yield metrics.DELIVERIES, _counts(connection, word, ("waiting", "failed"), is_delivery)
    oldest = func.min(tasks.c.created)
    yield metrics.DELIVERY_AGE, _age(connection, oldest, is_delivery, is_open)
    entries = schema.audit_log
    backup = select(func.max(entries.c.at)).where(entries.c.action == audit_log.BACKUP)
    first = select(func.min(versions.c.created))
    since = func.coalesce(backup.scalar_subquery(), first.scalar_subquery())
    yield metrics.BACKUP_AGE, _age(connection, since)


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
        select(word.label("word"), match_leases.has_model_clock().label("models"))
        .select_from(matches.join(tournaments, tournaments.c.id == matches.c.tournament))
        .where(matches.c.state.in_(OPEN))
        .subquery()
    )
    query = select(words.c.word, words.c.models, func.count())
    counted = {False: Counter[str](), True: Counter[str]()}
    for state, models, number in connection.execute(query.group_by(words.c.word, words.c.models)):
        counted[bool(models)][str(state)] = int(number)
    return counted


def _counts(
    connection: Connection,
    word: ColumnElement[Any],
    words: Sequence[str],
    *conditions: ColumnElement[bool],
) -> Values:
    """Count rows by a word, with zeros for the words that do not occur."""
    # The subquery lets PostgreSQL group by an expression with parameters.
    rows = select(word.label("word")).where(*conditions).subquery()
    query = select(rows.c.word, func.count()).group_by(rows.c.word)
    counted = {str(found): float(number) for found, number in connection.execute(query)}
    return {(str(each),): counted.get(str(each), 0.0) for each in words}


def _age(
    connection: Connection, since: ColumnElement[Any], *conditions: ColumnElement[bool]
) -> Values:
    """Return the seconds since a time; 0 without one."""
    age = connection.execute(select(now() - since).where(*conditions)).scalar_one()
    return {(): max(0.0, float(age or 0))}


def _count(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> Values:
    query = select(func.count()).select_from(table).where(*conditions)
    return {(): float(connection.execute(query).scalar_one())}
