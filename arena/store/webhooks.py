"""Webhooks of the organiser, and the queue and log of their deliveries.

Deliveries are planned from the rows of results, tournaments and versions, which a commit writes
together with what they describe. An event is therefore neither announced before its commit nor
lost after it, and the transactions of a match do no extra work.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    delete,
    func,
    insert,
    select,
    update,
)

from arena.errors import NotFound, TooMany
from arena.store import ids, schema
from arena.store.database import now, reading, writing
from arena.store.postgresql import lock_decision, lock_rows
from arena.store.schema import DeliveryState

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
# A transaction may commit this much later than the time that it wrote.
_LATE_SECONDS: Final = 60.0
_OLDEST_SECONDS: Final = 86_400.0
_MARK_SECONDS: Final = 600.0
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
        bot: only versions of this bot and matches with them.
    """

    tournament: str = ""
    game: str = ""
    bot: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the restrictions as plain values."""
        fields = {"tournament": self.tournament, "game": self.game, "bot": self.bot}
        return {name: value for name, value in fields.items() if value}


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
    failures: int
    """Failed attempts since the last successful one."""
    disabled: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery: an event for one webhook."""

    webhook: str
    event: str
    subject: str
    at: float
    attempts: int
    state: DeliveryState
    status: int | None
    error: str
    ended: float | None


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


def add(
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
                planned=now(),
                due=now(),
            )
        )
        return _find(connection, webhook)


def remove(engine: Engine, webhook: str) -> None:
    """Delete a webhook, its waiting deliveries and its log.

    Raises:
        NotFound: it does not exist.
    """
    table, deliveries = schema.webhooks, schema.webhook_deliveries
    with writing(engine, "remove_webhook") as connection:
        lock_rows(connection, select(table.c.id).where(table.c.id == webhook))
        connection.execute(delete(deliveries).where(deliveries.c.webhook == webhook))
        if connection.execute(delete(table).where(table.c.id == webhook)).rowcount == 0:
            raise _unknown(webhook)


def find(engine: Engine, webhook: str) -> Webhook:
    """Return a webhook.

    Raises:
        NotFound: it does not exist.
    """
    with reading(engine) as connection:
        return _find(connection, webhook)


def listing(engine: Engine) -> tuple[Webhook, ...]:
    """Return all webhooks, oldest first."""
    table = schema.webhooks
    with reading(engine) as connection:
        rows = connection.execute(select(table).order_by(table.c.created, table.c.id)).all()
    return tuple(map(_webhook, rows))


def log(engine: Engine, webhook: str = "", limit: int = 50) -> tuple[Delivery, ...]:
    """Return the deliveries of a webhook, or of all: those of the newest events first."""
    table = schema.webhook_deliveries
    query = select(table).order_by(table.c.at.desc(), table.c.webhook, table.c.subject)
    if webhook:
        query = query.where(table.c.webhook == webhook)
    with reading(engine) as connection:
        return tuple(map(_delivery, connection.execute(query.limit(limit))))


def plan(engine: Engine) -> int:
    """Plan the deliveries of all new events; return their number.

    A webhook with many waiting deliveries gets no further ones for now. Events older than a day
    are not delivered.
    """
    with reading(engine) as connection:
        hooks = _enabled_webhooks(connection)
        current = float(connection.execute(select(now())).scalar_one()) if hooks else 0.0
        if not any(_needs_planning(connection, hook, current) for hook in hooks):
            return 0
    added = 0
    with writing(engine, "plan_deliveries") as connection:
        lock_decision(connection, "plan_deliveries")
        current = float(connection.execute(select(now())).scalar_one())
        for hook in _enabled_webhooks(connection):
            rows, until = _new_deliveries(connection, hook, current)
            if rows:
                connection.execute(insert(schema.webhook_deliveries), rows)
            table = schema.webhooks
            connection.execute(
                update(table).where(table.c.id == hook.id).values(planned=max(until, hook.planned))
            )
            added += len(rows)
        _delete_old_deliveries(connection, current)
    return added


def due(engine: Engine) -> tuple[str, ...]:
    """Return the webhooks with a delivery to attempt now."""
    table, deliveries = schema.webhooks, schema.webhook_deliveries
    waiting = select(deliveries.c.event).where(
        deliveries.c.webhook == table.c.id, deliveries.c.state == DeliveryState.WAITING
    )
    query = select(table.c.id).where(_may_send(), waiting.exists()).order_by(table.c.id)
    with reading(engine) as connection:
        return tuple(connection.execute(query).scalars())


def start(engine: Engine, webhook: str) -> tuple[Webhook, Delivery] | None:
    """Begin an attempt of the oldest waiting delivery; None if nothing is due.

    No other process attempts a delivery of this webhook until `record_attempt` is called, or a
    minute later.
    """
    table, deliveries = schema.webhooks, schema.webhook_deliveries
    with writing(engine, "start_delivery") as connection:
        row = connection.execute(
            select(table).where(table.c.id == webhook, _may_send()).with_for_update()
        ).one_or_none()
        if row is None:
            return None
        oldest = connection.execute(
            select(deliveries)
            .where(deliveries.c.webhook == webhook, deliveries.c.state == DeliveryState.WAITING)
            .order_by(deliveries.c.at, deliveries.c.event, deliveries.c.subject)
            .limit(1)
        ).one_or_none()
        if oldest is None:
            return None
        _update_delivery(connection, oldest, attempts=oldest.attempts + 1)
        connection.execute(
            update(table).where(table.c.id == webhook).values(due=now() + _LEASE_SECONDS)
        )
    return _webhook(row), _delivery(oldest)


def record_attempt(engine: Engine, delivery: Delivery, result: AttemptResult) -> None:
    """Record the result of an attempt, and disable the webhook after repeated failures."""
    table, deliveries = schema.webhooks, schema.webhook_deliveries
    with writing(engine, "end_delivery") as connection:
        hook = connection.execute(
            select(table).where(table.c.id == delivery.webhook).with_for_update()
        ).one_or_none()
        row = connection.execute(select(deliveries).where(*_is_delivery(delivery))).one_or_none()
        if hook is None or row is None or row.state != DeliveryState.WAITING:
            # The webhook was removed or disabled during the attempt.
            return
        outcome: dict[str, Any] = {
            "status": result.status,
            "error": result.error[:_LONGEST_ERROR],
        }
        changed: dict[str, Any] = {"failures": 0, "due": now()}
        if not result.error:
            outcome |= {"state": DeliveryState.DELIVERED, "ended": now()}
        elif result.is_final:
            # The event is gone; the receiver is not at fault.
            outcome |= {"state": DeliveryState.FAILED, "ended": now()}
            changed = {"due": now()}
        else:
            if row.attempts >= ATTEMPTS:
                outcome |= {"state": DeliveryState.FAILED, "ended": now()}
            pause = PAUSES_SECONDS[min(hook.failures, len(PAUSES_SECONDS) - 1)]
            wait = max(pause, min(result.wait, _LONGEST_WAIT_SECONDS))
            changed = {"failures": hook.failures + 1, "due": now() + wait}
        _update_delivery(connection, row, **outcome)
        connection.execute(update(table).where(table.c.id == hook.id).values(**changed))
        is_gone = result.status == 410
        if is_gone or changed.get("failures", 0) >= FAILURES_TO_DISABLE:
            _disable(connection, hook.id, result.error[:_LONGEST_ERROR])


def note_test(engine: Engine, webhook: str, message: str, result: AttemptResult) -> None:
    """Record a test delivery; a successful one enables a disabled webhook from now on.

    Args:
        engine: the store.
        webhook: its id.
        message: the id of the test message.
        result: the result.
    """
    table = schema.webhooks
    with writing(engine, "note_test") as connection:
        lock_rows(connection, select(table.c.id).where(table.c.id == webhook))
        hook = _find(connection, webhook)
        connection.execute(
            insert(schema.webhook_deliveries).values(
                webhook=webhook,
                event=TEST,
                subject=message,
                at=now(),
                attempts=1,
                state=DeliveryState.FAILED if result.error else DeliveryState.DELIVERED,
                status=result.status,
                error=result.error[:_LONGEST_ERROR],
                ended=now(),
            )
        )
        if not result.error:
            fresh: dict[str, Any] = {"failures": 0, "due": now(), "disabled": None, "reason": ""}
            if hook.disabled is not None:
                fresh["planned"] = now()
            connection.execute(update(table).where(table.c.id == webhook).values(**fresh))


def _new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def _disable(connection: Connection, webhook: str, reason: str) -> None:
    table, deliveries = schema.webhooks, schema.webhook_deliveries
    connection.execute(
        update(table).where(table.c.id == webhook).values(disabled=now(), reason=reason)
    )
    connection.execute(
        update(deliveries)
        .where(deliveries.c.webhook == webhook, deliveries.c.state == DeliveryState.WAITING)
        .values(state=DeliveryState.FAILED, ended=now(), error="the webhook was disabled")
    )


def _may_send() -> ColumnElement[bool]:
    table = schema.webhooks
    return table.c.disabled.is_(None) & (table.c.due <= now())


def _is_delivery(delivery: Delivery | Row[Any]) -> tuple[ColumnElement[bool], ...]:
    table = schema.webhook_deliveries
    return (
        table.c.webhook == delivery.webhook,
        table.c.event == delivery.event,
        table.c.subject == delivery.subject,
    )


def _update_delivery(connection: Connection, row: Row[Any], **values: object) -> None:
    connection.execute(update(schema.webhook_deliveries).where(*_is_delivery(row)).values(**values))


class _PlannedWebhook(NamedTuple):
    """What planning needs of an enabled webhook."""

    id: str
    events: tuple[AnnouncementType, ...]
    scope: WebhookScope
    created: float
    planned: float


def _enabled_webhooks(connection: Connection) -> list[_PlannedWebhook]:
    table = schema.webhooks
    query = select(*table.c["id", "events", "scope", "created", "planned"])
    rows = connection.execute(query.where(table.c.disabled.is_(None)).order_by(table.c.id))
    return [
        _PlannedWebhook(
            row.id,
            tuple(map(AnnouncementType, row.events)),
            WebhookScope(**row.scope),
            row.created,
            row.planned,
        )
        for row in rows
    ]


def _needs_planning(connection: Connection, hook: _PlannedWebhook, current: float) -> bool:
    """Return whether there is something to plan, or the mark is so old that queries get slow."""
    rows, until = _new_deliveries(connection, hook, current, limit=1)
    return bool(rows) or until - hook.planned > _MARK_SECONDS


def _new_deliveries(
    connection: Connection, hook: _PlannedWebhook, current: float, limit: int = _LONGEST_QUEUE
) -> tuple[list[dict[str, Any]], float]:
    """Return new deliveries of a webhook, and the time before which nothing else is to be planned.

    The search begins before the time planned last, because a transaction that took its time
    earlier may commit later.
    """
    table = schema.webhook_deliveries
    waiting = connection.execute(
        select(func.count()).where(
            table.c.webhook == hook.id, table.c.state == DeliveryState.WAITING
        )
    ).scalar_one()
    if waiting >= _LONGEST_QUEUE:
        return [], hook.planned
    since = max(hook.planned - _LATE_SECONDS, hook.created, current - _OLDEST_SECONDS)
    events, until = [], current
    for event in hook.events:
        query = _events_since(event, since, hook.scope)
        columns = query.selected_columns
        known = select(table.c.subject).where(
            table.c.webhook == hook.id, table.c.event == event, table.c.subject == columns.subject
        )
        query = query.where(~known.exists()).order_by(columns.at, columns.subject).limit(limit)
        rows = connection.execute(query).all()
        if len(rows) == limit:
            until = min(until, rows[-1].at)
        events += [(event, row.subject, row.at) for row in rows]
    return [
        {
            "webhook": hook.id,
            "event": str(event),
            "subject": subject,
            "at": at,
            "state": DeliveryState.WAITING,
        }
        for event, subject, at in events
    ], until


def _events_since(event: AnnouncementType, since: float, scope: WebhookScope) -> Select[Any]:
    """Select subject and time of the events after a time from the rows that describe them."""
    match event:
        case AnnouncementType.VERSION_ADDED:
            return _added_versions(since, scope)
        case AnnouncementType.MATCH_CLOSED:
            return _closed_matches(since, scope)
        case AnnouncementType.TOURNAMENT_STARTED:
            return _tournaments_since(schema.tournaments.c.created, since, scope)
        case AnnouncementType.TOURNAMENT_ENDED:
            return _tournaments_since(schema.tournaments.c.ended, since, scope)


def _added_versions(since: float, scope: WebhookScope) -> Select[Any]:
    versions, entrants, tournaments = schema.versions, schema.entrants, schema.tournaments
    query = select(versions.c.id.label("subject"), versions.c.created.label("at"))
    query = query.where(versions.c.created >= since)
    if scope.bot:
        query = query.where(versions.c.name == scope.bot)
    if scope.tournament or scope.game:
        entered = (
            select(entrants.c.version)
            .join(tournaments, tournaments.c.id == entrants.c.tournament)
            .where(*_of_tournaments(scope))
        )
        query = query.where(versions.c.id.in_(entered))
    return query


def _closed_matches(since: float, scope: WebhookScope) -> Select[Any]:
    results, matches, tournaments = schema.results, schema.matches, schema.tournaments
    query = (
        select(results.c.match.label("subject"), results.c.closed.label("at"))
        .join(matches, matches.c.id == results.c.match)
        .join(tournaments, tournaments.c.id == matches.c.tournament)
        .where(results.c.closed >= since, *_of_tournaments(scope))
    )
    if scope.bot:
        sides, versions = schema.match_entrants, schema.versions
        with_bot = (
            select(sides.c.match)
            .join(versions, versions.c.id == sides.c.version)
            .where(sides.c.match == results.c.match, versions.c.name == scope.bot)
        )
        query = query.where(with_bot.exists())
    return query


def _tournaments_since(at: Column[float], since: float, scope: WebhookScope) -> Select[Any]:
    """Select the tournaments whose column `at` is not before `since`."""
    tournaments = schema.tournaments
    query = select(tournaments.c.id.label("subject"), at.label("at"))
    query = query.where(at >= since, *_of_tournaments(scope))
    if scope.bot:
        entrants, versions = schema.entrants, schema.versions
        with_bot = (
            select(entrants.c.version)
            .join(versions, versions.c.id == entrants.c.version)
            .where(entrants.c.tournament == tournaments.c.id, versions.c.name == scope.bot)
        )
        query = query.where(with_bot.exists())
    return query


def _of_tournaments(scope: WebhookScope) -> Iterator[ColumnElement[bool]]:
    tournaments = schema.tournaments
    if scope.tournament:
        yield tournaments.c.id == scope.tournament
    if scope.game:
        yield tournaments.c.game == scope.game


def _delete_old_deliveries(connection: Connection, current: float) -> None:
    """Delete old deliveries, but none that planning could find again."""
    table = schema.webhook_deliveries
    for state, seconds in (
        (DeliveryState.DELIVERED, _DELIVERED_SECONDS),
        (DeliveryState.FAILED, _FAILED_SECONDS),
    ):
        # An event that old is not planned any more (`_OLDEST_SECONDS`).
        old = (table.c.ended < current - seconds) & (table.c.at < current - _OLDEST_SECONDS)
        connection.execute(delete(table).where(table.c.state == state, old))


def _find(connection: Connection, webhook: str) -> Webhook:
    table = schema.webhooks
    row = connection.execute(select(table).where(table.c.id == webhook)).one_or_none()
    if row is None:
        raise _unknown(webhook)
    return _webhook(row)


def _webhook(row: Row[Any]) -> Webhook:
    return Webhook(
        id=row.id,
        url=row.url,
        secret=row.secret,
        created=row.created,
        failures=row.failures,
        format=WebhookFormat(row.format),
        events=tuple(map(AnnouncementType, row.events)),
        scope=WebhookScope(**row.scope),
        private=bool(row.private),
        disabled=row.disabled,
        reason=row.reason,
    )


def _delivery(row: Row[Any]) -> Delivery:
    return Delivery(**{**row._mapping, "state": DeliveryState(row.state)})


def _unknown(webhook: str) -> NotFound:
    return NotFound(
        f"unknown webhook {webhook}; `pokearena webhook list` lists all.", code="unknown-webhook"
    )
