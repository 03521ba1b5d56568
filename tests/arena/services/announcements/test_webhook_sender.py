"""Deliveries to a real HTTP server: matches, tournaments and versions, in each format."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.services.announcements import webhook_sender
from arena.services.announcements.webhook_sender import WebhookSender
from arena.store import webhooks
from arena.store.matches import match_leases
from arena.store.webhooks import (
    AnnouncementType,
    DeliveryState,
    Webhook,
    WebhookFormat,
    WebhookScope,
)
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.arena.services.announcements.webhook_receivers import WebhookReceiver, receiver
from tests.waiting import wait_until

SITE = "https://arena.example"


@pytest.fixture
def simulated_arena(tmp_path: Path) -> Iterator[SimulatedArena]:
    made = SimulatedArena(tmp_path)
    yield made
    made.engine.dispose()


@pytest.fixture
def receiving() -> Iterator[WebhookReceiver]:
    with receiver() as made:
        yield made


def add(
    simulated_arena: SimulatedArena,
    receiving: WebhookReceiver,
    body_format: WebhookFormat = WebhookFormat.STANDARD,
    *,
    private: bool = True,
) -> Webhook:
    every = tuple(AnnouncementType)
    return webhooks.add_webhook(
        simulated_arena.engine, receiving.url, body_format, every, WebhookScope(), private=private
    )


def deliver(simulated_arena: SimulatedArena) -> None:
    """Plan and attempt everything that is due."""
    sender = WebhookSender(simulated_arena.engine, site=SITE)
    sender.run_round()
    sender.wait()


def test_a_tournament_is_delivered_event_by_event(
    simulated_arena: SimulatedArena, receiving: WebhookReceiver
) -> None:
    hook = add(simulated_arena, receiving)
    bots = simulated_arena.bots(3)
    tournament = simulated_arena.play_out(simulated_arena.begin("knockout", bots))
    deliver(simulated_arena)
    assert all(request.is_signed_with(hook.secret) for request in receiving.requests)
    names = [request.headers["webhook-id"] for request in receiving.requests]
    assert len(set(names)) == len(names)
    documents = [json.loads(request.body) for request in receiving.requests]
    kinds = [document["type"] for document in documents]
    assert kinds[:3] == ["version.added"] * 3
    assert kinds[3] == "tournament.started"
    assert kinds[-1] == "tournament.ended"
    assert set(kinds[4:-1]) == {"match.closed"}
    ended, played = documents[-1]["data"], documents[4]["data"]
    assert ended["url"] == f"{SITE}/tournaments/{tournament.id}"
    assert len(ended["winners"]) == 1
    assert played["tournament"] == tournament.id
    assert set(played["scores"]) < set(bots)
    assert played["winner"] in {*bots, None}
    deliver(simulated_arena)
    assert len(receiving.requests) == len(documents)


def test_matches_are_not_announced_before_they_close(
    simulated_arena: SimulatedArena, receiving: WebhookReceiver
) -> None:
    simulated_arena.begin("round-robin", simulated_arena.bots(2), boards=2)
    add(simulated_arena, receiving)
    (match,) = match_leases.due(simulated_arena.engine)
    simulated_arena.play(match, most=3)
    deliver(simulated_arena)
    assert receiving.requests == []


def test_bodies_for_discord_and_slack(
    simulated_arena: SimulatedArena, receiving: WebhookReceiver
) -> None:
    for body_format in (WebhookFormat.DISCORD, WebhookFormat.SLACK):
        add(simulated_arena, receiving, body_format)
        simulated_arena.bots(1, first=len(receiving.requests))
        deliver(simulated_arena)
    discord, *others = [json.loads(request.body) for request in receiving.requests]
    (slack,) = [body for body in others if "blocks" in body]
    assert discord["allowed_mentions"] == {"parse": []}
    (embed,) = discord["embeds"]
    assert embed["url"] == f"{SITE}/bots/bot0"
    assert slack["blocks"][0]["text"]["type"] == "plain_text"
    assert slack["text"]


def test_a_failed_delivery_is_repeated_later(
    simulated_arena: SimulatedArena, receiving: WebhookReceiver
) -> None:
    hook = add(simulated_arena, receiving)
    receiving.statuses = [500]
    simulated_arena.bots(1)
    deliver(simulated_arena)
    deliver(simulated_arena)
    assert len(receiving.requests) == 1
    (delivery,) = webhooks.log(simulated_arena.engine)
    assert (delivery.state, delivery.status) == (DeliveryState.WAITING, 500)
    assert delivery.task.attempt == 1
    assert webhooks.find_webhook(simulated_arena.engine, hook.id).failures == 1


def test_private_addresses_are_refused_by_default(
    simulated_arena: SimulatedArena, receiving: WebhookReceiver
) -> None:
    add(simulated_arena, receiving, private=False)
    simulated_arena.bots(1)
    deliver(simulated_arena)
    assert receiving.requests == []
    (delivery,) = webhooks.log(simulated_arena.engine)
    assert delivery.status is None
    assert delivery.task.reason


def test_a_slow_receiver_delays_no_other_one(
    simulated_arena: SimulatedArena, receiving: WebhookReceiver
) -> None:
    receiving.hold = threading.Event()
    with receiver() as fast:
        add(simulated_arena, receiving)
        add(simulated_arena, fast)
        simulated_arena.bots(2)
        sender = WebhookSender(simulated_arena.engine)
        sender.run_round()
        wait_until(lambda: len(fast.requests) == 2 and receiving.requests)
        assert len(receiving.requests) == 1
        receiving.hold.set()
        sender.wait()
    assert len(receiving.requests) == 2


def test_what_was_committed_before_the_stop_is_delivered(
    simulated_arena: SimulatedArena, receiving: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sender, "_LAST_SECONDS", 60.0)
    add(simulated_arena, receiving)
    sender = WebhookSender(simulated_arena.engine)
    sender.start()
    simulated_arena.bots(2)
    sender.stop()
    assert len(receiving.requests) == 2
