"""Webhooks of the organiser, and the queue and log of their deliveries.

Deliveries are planned from the sequence of events (`arena.store.closings`), which a commit writes
together with what they describe. An event is therefore neither announced before its commit nor
lost after it.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    and_,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from arena.errors import NotFound, TooMany
from arena.store import closings, ids, schema, tasks
from arena.store.database import now, read_rows, reading, writing
from arena.store.postgresql import lock_decision, lock_rows
from arena.store.schema import ClosingKind, TaskKind
from arena.store.tasks import Task
from arena.store.tournaments.tournaments import ids_of_ladder

SECRET_PREFIX: Final = "whsec_"
"""Prefix of secrets (Standard Webhooks)."""
MOST_WEBHOOKS: Final = 50
ATTEMPTS: Final = 6
"""Attempts of one delivery."""
PAUSES_SECONDS: Final = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800)
"""Pauses of a webhook after its first, second, ... failed attempt in a row."""
FAILURES_TO_DISABLE: Final = 10
"""Failed attempts in a row, within about 16 hours, that disable a webhook."""
TEST: Final = "webhook.test"

_SECRET_BYTES: Final = 32
_LONGEST_QUEUE: Final = 100
_OLDEST_SECONDS: Final = 86_400.0
# After this time another process may take over a delivery.
_LEASE_SECONDS: Final = 60.0
_LONGEST_WAIT_SECONDS: Final = 3600.0
_DELIVERED_SECONDS: Final = 86_400.0
_FAILED_SECONDS: Final = 30 * 86_400.0
_LONGEST_ERROR: Final = 300


class AnnouncementType(StrEnum):
    """The types of announcements."""

    MATCH_CLOSED = "match.closed"
    TOURNAMENT_STARTED = "tournament.started"
    TOURNAMENT_ENDED = "tournament.ended"
    VERSION_ADDED = "version.added"


class WebhookFormat(StrEnum):
    """The format of the body of a delivery."""

    STANDARD = "standard"
    DISCORD = "discord"
    SLACK = "slack"


@dataclass(frozen=True, slots=True)
class WebhookScope:
    """Restricts a webhook; an empty value restricts nothing.

    Attributes:
        tournament: only this tournament and its matches.
        game: only tournaments of this game and their matches.
        form: only tournaments of this form or ladder and their matches.
        bot: only versions of this bot and matches with them.
    """

    tournament: str = ""
    game: str = ""
    bot: str = ""
    form: str = ""

    def to_json(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook. Its URL and its secret are credentials."""

    id: str
    url: str
    format: WebhookFormat
    events: tuple[AnnouncementType, ...]
    scope: WebhookScope
    secret: str
    private: bool
    """Whether private addresses and HTTP without TLS are allowed."""
    created: float
    planned: int
    """Deliveries of all events up to this row of `closings` have been planned."""
    failures: int
    """Failed attempts since the last successful one."""
    disabled: float | None
    reason: str


class DeliveryState(StrEnum):
    """The state of a delivery to a webhook."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery: an event for one webhook, which is the queue of the task."""

    task: Task
    event: str
    subject: str
    """Id of the match, tournament or version."""

    @property
    def state(self) -> DeliveryState:
        """Whether it waits, was delivered or was given up."""
        if self.task.ended is None:
            return DeliveryState.WAITING
        return DeliveryState.FAILED if self.task.reason else DeliveryState.DELIVERED

    @property
    def status(self) -> int | None:
        """The HTTP status of the last attempt."""
        return self.task.result["status"] if self.task.result else None


class AttemptResult(NamedTuple):
    """The result of one attempt.

    Attributes:
        status: the HTTP status; None without a response.
        error: the reason of a failure as a clause; empty if it was delivered.
        wait: the receiver's Retry-After, in seconds.
        is_final: whether the delivery cannot succeed later.
    """

    status: int | None
    error: str = ""
    wait: float = 0.0
    is_final: bool = False


def add_webhook(
    engine: Engine,
    url: str,
    format: WebhookFormat,  # noqa: A002
    events: Sequence[AnnouncementType],
    scope: WebhookScope,
    *,
    private: bool = False,
) -> Webhook:
    """Add a webhook with a new secret; it receives the events from now on.

    Raises:
        TooMany: there are `MOST_WEBHOOKS` already.
    """
    table = schema.webhooks
    with writing(engine, "add_webhook") as connection:
        lock_decision(connection, "add_webhook")
        counted = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if counted >= MOST_WEBHOOKS:
            raise TooMany(f"there are {counted} webhooks, which is the limit; remove one.", 0)
        webhook = ids.webhook_id()
        connection.execute(
            insert(table).values(
                id=webhook,
                url=url,
                format=format,
                events=list(dict.fromkeys(events)),
                scope=scope.to_json(),
                secret=_new_secret(),
                private=int(private),
                created=now(),
                planned=closings.newest_closing(connection),
            )
        )
        return _find(connection, webhook)


def remove(engine: Engine, webhook: str) -> None:
    """Delete a webhook, its waiting deliveries and its log.

    Raises:
        NotFound: it does not exist.
    """
    table = schema.webhooks
    with writing(engine, "remove_webhook") as connection:
        lock_rows(connection, select(table.c.id).where(table.c.id == webhook))
        tasks.remove_queues(connection, [TaskKind.DELIVERY], [webhook])
        if connection.execute(delete(table).where(table.c.id == webhook)).rowcount == 0:
            raise _unknown(webhook)


def find_webhook(engine: Engine, webhook: str) -> Webhook:
    """Return a webhook.

    Raises:
        NotFound: it does not exist.
    """
    with reading(engine) as connection:
        return _find(connection, webhook)


def list_webhooks(engine: Engine) -> tuple[Webhook, ...]:
    """Return all webhooks, oldest first."""
    table = schema.webhooks
    rows = read_rows(engine, select(table).order_by(table.c.created, table.c.id)).all()
    return tuple(map(_webhook, rows))


def log(engine: Engine, webhook: str = "", limit: int = 50) -> tuple[Delivery, ...]:
    """Return the deliveries of a webhook, or of all: those of the newest events first."""
    table = schema.tasks
    query = select(table).order_by(table.c.created.desc(), table.c.key)
    query = query.where(table.c.kind == TaskKind.DELIVERY)
    if webhook:
        query = query.where(table.c.queue == webhook)
    with reading(engine) as connection:
        rows = connection.execute(query.limit(limit))
        return tuple(_delivery(tasks.task_of(row)) for row in rows)


def plan(engine: Engine) -> int:
    """Plan the deliveries of all new events; return their number.

    A webhook with many waiting deliveries gets no further ones for now. Events older than a day
    are not delivered.
    """
    with reading(engine) as connection:
        newest = closings.newest_closing(connection)
        if all(hook.planned >= newest for hook in _enabled_webhooks(connection)):
            return 0
    with writing(engine, "plan_deliveries") as connection:
        lock_decision(connection, "plan_deliveries")
        # None of them is removed or disabled meanwhile: its new deliveries would wait for ever.
        lock_rows(connection, select(schema.webhooks.c.id).order_by(schema.webhooks.c.id))
        newest = closings.newest_closing(connection)
        planned = sum(_plan(connection, hook, newest) for hook in _enabled_webhooks(connection))
        _delete_old_deliveries(connection)
    return planned


def due(engine: Engine) -> tuple[str, ...]:
    """Return the webhooks with a delivery to attempt now."""
    table = schema.webhooks
    waiting = select(schema.tasks.c.key).where(tasks.is_open(TaskKind.DELIVERY, table.c.id))
    may_send = (table.c.disabled.is_(None), tasks.is_free(TaskKind.DELIVERY, table.c.id))
    query = select(table.c.id).where(*may_send, waiting.exists()).order_by(table.c.id)
    return tuple(read_rows(engine, query).scalars())


def start(engine: Engine, webhook: str) -> tuple[Webhook, Delivery] | None:
    """Begin an attempt of the oldest waiting delivery; None if nothing is due.

    No other process attempts a delivery of this webhook until `record_attempt` is called, or a
    minute later.
    """
    table = schema.webhooks
    with writing(engine, "start_delivery") as connection:
        row = connection.execute(
            select(table).where(table.c.id == webhook, table.c.disabled.is_(None)).with_for_update()
        ).one_or_none()
        if row is None:
            return None
        task = tasks.claim(connection, TaskKind.DELIVERY, webhook, _LEASE_SECONDS)
    return None if task is None else (_webhook(row), _delivery(task))


def record_attempt(engine: Engine, delivery: Delivery, result: AttemptResult) -> None:
    """Record the result of an attempt, and disable the webhook after repeated failures."""
    table, task = schema.webhooks, delivery.task
    with writing(engine, "end_delivery") as connection:
        hook = connection.execute(
            select(table).where(table.c.id == task.queue).with_for_update()
        ).one_or_none()
        if hook is None:
            return
        failures, pause = _after(hook.failures, result)
        is_over = not result.error or result.is_final or task.attempt >= ATTEMPTS
        end = tasks.finish if is_over else tasks.fail
        error, answer = result.error[:_LONGEST_ERROR], {"status": result.status}
        if not end(connection, task, answer, error, pause):
            # The webhook was disabled during the attempt, or another process has begun again.
            return
        connection.execute(update(table).where(table.c.id == hook.id).values(failures=failures))
        if result.status == 410 or failures >= FAILURES_TO_DISABLE:
            _disable(connection, hook.id, error)


def _after(failures: int, result: AttemptResult) -> tuple[int, float]:
    """Return the failures in a row after an attempt, and the pause of the webhook."""
    if not result.error:
        return 0, 0.0
    if result.is_final:
        # The event is gone; the receiver is not at fault.
        return failures, 0.0
    pause = PAUSES_SECONDS[min(failures, len(PAUSES_SECONDS) - 1)]
    return failures + 1, max(pause, min(result.wait, _LONGEST_WAIT_SECONDS))


def note_test(engine: Engine, webhook: str, message: str, result: AttemptResult) -> None:
    """Record a test delivery; a successful one enables a disabled webhook from now on."""
    table = schema.webhooks
    with writing(engine, "note_test") as connection:
        lock_rows(connection, select(table.c.id).where(table.c.id == webhook))
        hook = _find(connection, webhook)
        at = connection.execute(select(now())).scalar_one()
        tasks.add_tasks(
            connection,
            TaskKind.DELIVERY,
            webhook,
            {_key(webhook, TEST, message): at},
            attempt=1,
            ended=at,
            result={"status": result.status},
            reason=result.error[:_LONGEST_ERROR],
        )
        if not result.error:
            tasks.resume_queue(connection, TaskKind.DELIVERY, webhook)
            fresh: dict[str, Any] = {"failures": 0, "disabled": None, "reason": ""}
            if hook.disabled is not None:
                fresh["planned"] = closings.newest_closing(connection)
            connection.execute(update(table).where(table.c.id == webhook).values(**fresh))


def _new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def _disable(connection: Connection, webhook: str, reason: str) -> None:
    table = schema.webhooks
    disabled = update(table).where(table.c.id == webhook).values(disabled=now(), reason=reason)
    connection.execute(disabled)
    waiting = update(schema.tasks).where(tasks.is_open(TaskKind.DELIVERY, webhook))
    connection.execute(waiting.values(ended=now(), reason="the webhook was disabled"))


def _key(webhook: str, event: str, subject: str) -> str:
    """Return the key of a task: an event is planned only once."""
    return f"{webhook} {event} {subject}"


def _enabled_webhooks(connection: Connection) -> list[Webhook]:
    table = schema.webhooks
    enabled = select(table).where(table.c.disabled.is_(None)).order_by(table.c.id)
    return list(map(_webhook, connection.execute(enabled)))


def _plan(connection: Connection, hook: Webhook, newest: int) -> int:
    """Plan the next deliveries of a webhook; return their number."""
    kind = TaskKind.DELIVERY
    waiting = select(func.count()).where(tasks.is_open(kind, hook.id))
    if connection.execute(waiting).scalar_one() >= _LONGEST_QUEUE:
        return 0
    events = connection.execute(_new_events(connection, hook, newest)).all()
    until = events[-1].seq if len(events) == _LONGEST_QUEUE else newest
    # A version can enter several tournaments of a webhook's scope.
    created = {_key(hook.id, *_event_of(row)): row.at for row in events}
    tasks.add_tasks(connection, kind, hook.id, created)
    webhooks = schema.webhooks
    connection.execute(update(webhooks).where(webhooks.c.id == hook.id).values(planned=until))
    return len(created)


_EVENTS: Final = {
    ClosingKind.MATCH_CLOSED: (AnnouncementType.MATCH_CLOSED, "match"),
    ClosingKind.TOURNAMENT_STARTED: (AnnouncementType.TOURNAMENT_STARTED, "tournament"),
    ClosingKind.TOURNAMENT_ENDED: (AnnouncementType.TOURNAMENT_ENDED, "tournament"),
    ClosingKind.VERSION_ADDED: (AnnouncementType.VERSION_ADDED, "version"),
    ClosingKind.ENTERED: (AnnouncementType.VERSION_ADDED, "version"),
}
"""The announcement of an event, and the column of its subject."""


def _event_of(row: Row[Any]) -> tuple[str, str]:
    event, column = _EVENTS[ClosingKind(row.kind)]
    return event, row._mapping[column]


def _new_events(connection: Connection, hook: Webhook, newest: int) -> Select[Any]:
    """Select the events up to a position that a webhook announces next, oldest first."""
    table, scope = schema.closings, hook.scope
    # A version belongs to a tournament when it enters it, which is later than its addition.
    is_of_tournament = bool(scope.tournament or scope.game or scope.form)
    other = ClosingKind.VERSION_ADDED if is_of_tournament else ClosingKind.ENTERED
    kinds = [kind for kind, (event, _) in _EVENTS.items() if event in hook.events and kind != other]
    query = (
        select(table)
        .where(
            table.c.seq > hook.planned,
            table.c.seq <= newest,
            table.c.kind.in_(kinds),
            table.c.at >= now() - _OLDEST_SECONDS,
            *_within(connection, scope),
        )
        .order_by(table.c.seq)
        .limit(_LONGEST_QUEUE)
    )
    if is_of_tournament:
        query = query.where(_is_no_known_entry(hook))
    return query


def _within(connection: Connection, scope: WebhookScope) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions that an event is within a scope."""
    table, versions = schema.closings, schema.versions
    if scope.tournament:
        yield table.c.tournament == scope.tournament
    if scope.game:
        tournaments = schema.tournaments
        of_game = select(tournaments.c.id).where(tournaments.c.game == scope.game)
        yield table.c.tournament.in_(of_game)
    if scope.form:
        yield table.c.tournament.in_(ids_of_ladder(connection, scope.form))
    if scope.bot:
        of_bot = select(versions.c.id).where(versions.c.name == scope.bot)
        sides, entrants = schema.match_entrants, schema.entrants
        played = select(sides.c.match).where(
            sides.c.match == table.c.match, sides.c.version.in_(of_bot)
        )
        entered = select(entrants.c.tournament).where(
            entrants.c.tournament == table.c.tournament, entrants.c.version.in_(of_bot)
        )
        is_of_tournament = table.c.kind.in_(
            (ClosingKind.TOURNAMENT_STARTED, ClosingKind.TOURNAMENT_ENDED)
        )
        yield or_(
            table.c.version.in_(of_bot), played.exists(), and_(is_of_tournament, entered.exists())
        )


def _is_no_known_entry(hook: Webhook) -> ColumnElement[bool]:
    """Return the condition that an entry is the first one of a version newer than the webhook."""
    table, versions, planned = schema.closings, schema.versions, schema.tasks
    new = select(versions.c.id).where(
        versions.c.id == table.c.version,
        versions.c.created >= hook.created,
        # Deliveries that are older may be deleted.
        versions.c.created >= table.c.at - _OLDEST_SECONDS,
    )
    key = literal(_key(hook.id, AnnouncementType.VERSION_ADDED, "")).concat(table.c.version)
    known = select(planned.c.key).where(planned.c.kind == TaskKind.DELIVERY, planned.c.key == key)
    return or_(table.c.kind != ClosingKind.ENTERED, and_(new.exists(), ~known.exists()))


def _delete_old_deliveries(connection: Connection) -> None:
    table = schema.tasks
    for is_of_state, seconds in (
        (table.c.reason == "", _DELIVERED_SECONDS),
        (table.c.reason != "", _FAILED_SECONDS),
    ):
        old = (is_of_state, table.c.ended < now() - seconds)
        connection.execute(delete(table).where(table.c.kind == TaskKind.DELIVERY, *old))


def _find(connection: Connection, webhook: str) -> Webhook:
    table = schema.webhooks
    row = connection.execute(select(table).where(table.c.id == webhook)).one_or_none()
    if row is None:
        raise _unknown(webhook)
    return _webhook(row)


def _webhook(row: Row[Any]) -> Webhook:
    values = {
        "format": WebhookFormat(row.format),
        "events": tuple(map(AnnouncementType, row.events)),
        "scope": WebhookScope(**row.scope),
        "private": bool(row.private),
    }
    return Webhook(**{**row._mapping, **values})


def _delivery(task: Task) -> Delivery:
    _, event, subject = task.key.split(" ")
    return Delivery(task, event, subject)


def _unknown(webhook: str) -> NotFound:
    return NotFound(
        f"unknown webhook {webhook}; `pokearena webhook list` lists all.", code="unknown-webhook"
    )
