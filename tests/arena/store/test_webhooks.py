"""The queue of webhooks: each event is planned once, attempted in order, and finally given up."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine, update

from arena.errors import NotFound, TooMany
from arena.formats.contract import FormatEntrant
from arena.store import database, schema, webhooks
from arena.store.bots import versions
from arena.store.tournaments import lifecycle
from arena.store.tournaments.tournaments import Tournament
from arena.store.webhooks import (
    ATTEMPTS,
    FAILURES_TO_DISABLE,
    AnnouncementType,
    AttemptResult,
    DeliveryState,
    Webhook,
    WebhookFormat,
    WebhookScope,
)

Schedule = Callable[..., Tournament]
URL = "https://example.org/hook"
DELIVERED = AttemptResult(204)
FAILED = AttemptResult(500, "status 500")


def added(store: Engine, *events: AnnouncementType, scope: WebhookScope | None = None) -> Webhook:
    every = events or tuple(AnnouncementType)
    return webhooks.add_webhook(store, URL, WebhookFormat.STANDARD, every, scope or WebhookScope())


def planned(store: Engine, hook: Webhook) -> list[tuple[str, str]]:
    webhooks.plan(store)
    return sorted((each.event, each.subject) for each in webhooks.log(store, hook.id))


def later(store: Engine, seconds: float = 1e6) -> None:
    table = schema.tasks
    with database.writing(store) as connection:
        connection.execute(update(table).values(held_until=table.c.held_until - seconds))


def attempt(store: Engine, hook: Webhook, result: AttemptResult) -> str:
    """Attempt the next delivery with this result; return its subject."""
    due = webhooks.start(store, hook.id)
    assert due is not None
    webhooks.record_attempt(store, due[1], result)
    return due[1].subject


def test_each_new_event_is_planned_once(store: Engine, schedule: Schedule) -> None:
    schedule(bots=2)
    hook = added(store)
    assert webhooks.plan(store) == 0
    tournament = schedule(bots=3)
    lifecycle.cancel(store, tournament.id)
    assert webhooks.plan(store) == 3
    assert webhooks.plan(store) == 0
    assert planned(store, hook) == [
        ("tournament.ended", tournament.id),
        ("tournament.started", tournament.id),
        ("version.added", "bot2@1"),
    ]


def test_a_version_is_announced_to_a_tournament_when_it_enters_it(
    store: Engine, schedule: Schedule
) -> None:
    first, second = schedule(2), schedule(2)
    hook = webhooks.add_webhook(
        store,
        "https://example.org",
        webhooks.WebhookFormat.STANDARD,
        [AnnouncementType.VERSION_ADDED],
        webhooks.WebhookScope(game="poke"),
    )
    versions.add_version(store, "late", "1", "1" * 64, "/late", {})
    assert webhooks.plan(store) == 0
    entry = FormatEntrant("late@1", "")
    for tournament in (first, second):
        lifecycle.add_entrants(store, tournament.id, [entry])
        # A version from before the webhook is not new.
        lifecycle.add_entrants(store, tournament.id, [FormatEntrant(older(store), "")])
    assert webhooks.plan(store) == 1
    assert webhooks.plan(store) == 0
    assert planned(store, hook) == [("version.added", "late@1")]


def older(store: Engine) -> str:
    """Add a version that was created before any webhook; return it."""
    version = versions.add_version(store, "older", "1", "2" * 64, "/older", {})
    with database.writing(store) as connection:
        table = schema.versions
        connection.execute(update(table).where(table.c.id == version.id).values(created=1.0))
    return version.id


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"bot": "bot1"}, {"version.added": 1, "tournament.started": 2}),
        ({"bot": "bot2"}, {"version.added": 1, "tournament.started": 1}),
        ({"bot": "nobody"}, {}),
        ({"game": "poke"}, {"version.added": 3, "tournament.started": 2}),
        ({"game": "pokex"}, {}),
        ({"tournament": "t-000000"}, {}),
    ],
)
def test_a_scope_selects_events(
    store: Engine, schedule: Schedule, scope: dict[str, str], expected: dict[str, int]
) -> None:
    hook = added(store, scope=WebhookScope(**scope))
    schedule(bots=2)
    schedule(bots=3)
    kinds = [event for event, _ in planned(store, hook)]
    assert {kind: kinds.count(kind) for kind in kinds} == expected


def test_attempts_are_in_order_and_by_one_process_only(store: Engine, schedule: Schedule) -> None:
    hook = added(store, AnnouncementType.VERSION_ADDED)
    schedule(bots=2)
    webhooks.plan(store)
    assert webhooks.due(store) == (hook.id,)
    first = webhooks.start(store, hook.id)
    assert first is not None
    assert first[1].subject == "bot0@1"
    # Another process neither finds it nor another delivery of the same webhook.
    assert webhooks.due(store) == ()
    assert webhooks.start(store, hook.id) is None
    webhooks.record_attempt(store, first[1], DELIVERED)
    assert attempt(store, hook, DELIVERED) == "bot1@1"
    assert webhooks.due(store) == ()
    assert [each.state for each in webhooks.log(store)] == [DeliveryState.DELIVERED] * 2
    # A second report of the same attempt changes nothing.
    webhooks.record_attempt(store, first[1], FAILED)
    assert webhooks.find_webhook(store, hook.id).failures == 0


def test_an_interrupted_attempt_is_repeated(store: Engine, schedule: Schedule) -> None:
    hook = added(store, AnnouncementType.TOURNAMENT_STARTED)
    tournament = schedule()
    webhooks.plan(store)
    assert webhooks.start(store, hook.id) is not None
    later(store, 61)
    assert attempt(store, hook, DELIVERED) == tournament.id
    assert webhooks.log(store)[0].task.attempt == 2


def test_the_process_of_a_lapsed_attempt_records_nothing(store: Engine, schedule: Schedule) -> None:
    hook = added(store, AnnouncementType.TOURNAMENT_STARTED)
    schedule()
    webhooks.plan(store)
    lapsed = webhooks.start(store, hook.id)
    assert lapsed is not None
    later(store, 61)
    newest = webhooks.start(store, hook.id)
    assert newest is not None
    webhooks.record_attempt(store, lapsed[1], FAILED)
    assert webhooks.find_webhook(store, hook.id).failures == 0
    # The newest attempt still holds the webhook.
    assert webhooks.due(store) == ()
    webhooks.record_attempt(store, newest[1], DELIVERED)
    assert [each.state for each in webhooks.log(store)] == [DeliveryState.DELIVERED]


def test_a_pause_holds_events_that_are_planned_later(store: Engine, schedule: Schedule) -> None:
    """The only waiting delivery is given up, and the receiver still gets its pause."""
    hook = added(store, AnnouncementType.TOURNAMENT_STARTED)
    schedule()
    webhooks.plan(store)
    for number in range(ATTEMPTS):
        attempt(store, hook, FAILED)
        if number < ATTEMPTS - 1:
            later(store)
    schedule()
    assert webhooks.plan(store) == 1
    assert webhooks.due(store) == ()
    assert webhooks.start(store, hook.id) is None
    later(store, webhooks.PAUSES_SECONDS[ATTEMPTS - 1])
    assert webhooks.due(store) == (hook.id,)


@pytest.mark.parametrize(("age", "planned"), [(86_300, 1), (86_500, 0)])
def test_an_event_is_announced_within_a_day(
    store: Engine, schedule: Schedule, age: int, planned: int
) -> None:
    added(store, AnnouncementType.TOURNAMENT_STARTED)
    schedule()
    table = schema.closings
    with database.writing(store) as connection:
        connection.execute(update(table).values(at=table.c.at - age))
    webhooks.plan(store)
    assert len(webhooks.log(store)) == planned


def test_the_pauses_and_attempts_are_the_documented_ones() -> None:
    minutes = (0.5, 2, 10, 30, 60, 120, 240, 480)
    assert (5, *(60 * each for each in minutes)) == webhooks.PAUSES_SECONDS
    assert (ATTEMPTS, webhooks.FAILURES_TO_DISABLE, webhooks.MOST_WEBHOOKS) == (6, 10, 50)


def test_a_failure_pauses_the_webhook(store: Engine, schedule: Schedule) -> None:
    hook = added(store, AnnouncementType.TOURNAMENT_STARTED)
    schedule()
    webhooks.plan(store)
    failures = [(FAILED, pause) for pause in webhooks.PAUSES_SECONDS[:3]]
    # The receiver asks for this time.
    failures.append((AttemptResult(429, "status 429", wait=1000), 1000))
    for failure, pause in failures:
        attempt(store, hook, failure)
        later(store, pause - 4)
        assert webhooks.due(store) == ()
        later(store, 5)
        assert webhooks.due(store) == (hook.id,)
    attempt(store, hook, DELIVERED)
    assert webhooks.find_webhook(store, hook.id).failures == 0


def test_a_delivery_is_given_up_and_then_the_webhook(store: Engine, schedule: Schedule) -> None:
    hook = added(store, AnnouncementType.VERSION_ADDED)
    schedule(bots=3)
    webhooks.plan(store)
    for number in range(FAILURES_TO_DISABLE):
        assert webhooks.find_webhook(store, hook.id).disabled is None
        assert attempt(store, hook, FAILED) == ("bot0@1" if number < ATTEMPTS else "bot1@1")
        later(store)
    disabled = webhooks.find_webhook(store, hook.id)
    assert disabled.disabled is not None
    assert disabled.reason == FAILED.error
    assert {each.state for each in webhooks.log(store)} == {DeliveryState.FAILED}
    versions.add_version(store, "later", "1", "9" * 64, "/later", {})
    assert webhooks.plan(store) == 0
    # A test that arrives enables it; events of the meantime are not sent.
    webhooks.note_test(store, hook.id, "msg_1", FAILED)
    assert webhooks.find_webhook(store, hook.id).disabled is not None
    webhooks.note_test(store, hook.id, "msg_2", DELIVERED)
    assert webhooks.find_webhook(store, hook.id).disabled is None
    assert webhooks.due(store) == ()
    versions.add_version(store, "latest", "1", "8" * 64, "/latest", {})
    assert webhooks.plan(store) == 1
    assert attempt(store, hook, DELIVERED) == "latest@1"


def test_a_receiver_that_is_gone_disables_its_webhook(store: Engine, schedule: Schedule) -> None:
    hook = added(store, AnnouncementType.VERSION_ADDED)
    schedule(bots=2)
    webhooks.plan(store)
    attempt(store, hook, AttemptResult(410, "status 410"))
    assert webhooks.find_webhook(store, hook.id).disabled is not None
    assert webhooks.due(store) == ()


def test_many_waiting_deliveries_stop_the_planning(store: Engine) -> None:
    hook = added(store, AnnouncementType.VERSION_ADDED)
    for number in range(130):
        versions.add_version(store, f"bot{number:03}", "1", f"{number:064x}", "/bot", {})
    assert webhooks.plan(store) == 100
    assert webhooks.plan(store) == 0
    attempt(store, hook, DELIVERED)
    assert webhooks.plan(store) > 0
    assert len(webhooks.log(store, limit=1000)) == 130


def test_a_removed_webhook_leaves_nothing(store: Engine, schedule: Schedule) -> None:
    hook = added(store)
    schedule()
    webhooks.plan(store)
    due = webhooks.start(store, hook.id)
    assert due is not None
    webhooks.remove(store, hook.id)
    webhooks.record_attempt(store, due[1], DELIVERED)
    assert webhooks.list_webhooks(store) == ()
    assert webhooks.log(store) == ()
    with pytest.raises(NotFound):
        webhooks.remove(store, hook.id)


def test_the_number_of_webhooks_is_limited(store: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "MOST_WEBHOOKS", 1)
    added(store)
    with pytest.raises(TooMany):
        added(store)
