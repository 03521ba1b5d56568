"""Test events over a real Valkey: delivery, reconnection, and invalid messages."""

import asyncio
import json
import logging
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from arena.services.queue import redis_server
from arena.store.events import messages, publisher
from arena.store.events.messages import (
    Event,
    GameOver,
    MatchClosed,
    MatchStarted,
    Position,
    TournamentChanged,
    last_positions,
    listen,
    parse,
    text_of,
)
from arena.store.events.publisher import EventPublisher
from arena.system import redis_connection, timings
from arena.system.process_log import ProcessLog
from referee.game_codec import DecodeError, json_of
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.replay import view_of_json
from tests.waiting import wait_until, wait_until_async

VIEW = {"poke": json_of(find_game("poke").start(Seeded(bytes(32))).public())}


def position(decision: int = 0, match: str = "m-1") -> Position:
    return Position(match, 0, 0, 0, decision, (1,), ("a@1", "b@1"), VIEW)


ALL: list[Event] = [
    MatchStarted("m-1", "t-1", 1),
    position(),
    GameOver("m-1", 1, 2),
    MatchClosed("m-1", "t-1"),
    TournamentChanged("t-1", "closed"),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the time limits of publishers, so that a busy machine loses no event."""
    monkeypatch.setattr(publisher, "_REDIS_SECONDS", 60.0)
    monkeypatch.setattr(publisher, "_FLUSH_SECONDS", 60.0)


async def listeners(connection: Redis, number: int, database: int = 0) -> None:
    name = messages.channel(database)
    await wait_until_async(lambda: dict(connection.pubsub_numsub(name))[name.encode()] == number)


async def take(events: AsyncIterator[Event], number: int) -> list[Event]:
    return [await anext(events) for _ in range(number)]


def received(url: str, connection: Redis, act: Callable[[], object], number: int) -> list[Event]:
    async def run() -> list[Event]:
        async with aclosing(listen(url)) as events:
            taking = asyncio.create_task(take(events, number))
            await listeners(connection, 1)
            act()
            return await taking

    return asyncio.run(run())


@pytest.mark.parametrize("event", ALL, ids=messages.name_of)
def test_a_message_is_one_line_of_json_and_parses_to_its_event(event: Event) -> None:
    text = text_of(event)
    assert json.loads(text)["type"] == messages.name_of(event)
    assert "\n" not in text
    assert parse(text) == event
    assert parse(text.encode()) == event


def test_a_position_contains_the_view_of_the_rules() -> None:
    assert view_of_json(position().view) == find_game("poke").start(Seeded(bytes(32))).public()


@pytest.mark.parametrize("view", [{}, {"chess": {}}, {"poke": {"hand": 5}}, {"poke": 1}], ids=str)
def test_a_view_without_a_known_game_is_refused(view: dict[str, object]) -> None:
    with pytest.raises(DecodeError):
        view_of_json(view)


MALFORMED: list[str | bytes] = [
    "",
    "no json",
    "[" * 100_000,
    "5",
    "null",
    "[]",
    "{}",
    '{"type":"rumour","match":"m-1"}',
    '{"type":["position"]}',
    '{"type":"match_closed","match":"m-1"}',
    '{"type":"match_closed","match":1,"tournament":"t-1"}',
    '{"type":"game_over","match":"m-1","games":-1,"planned":2}',
    '{"type":"game_over","match":"m-1","games":true,"planned":2}',
    text_of(position()).replace('"actors":[1]', '"actors":["1"]'),
    text_of(position()).replace('"view":{', '"view":[{').replace("}}}", "}}]}"),
    text_of(position())[:-1] + ',"more":"' + "x" * messages.MAX_CHARACTERS + '"}',
    b"\xff\xfe",
]


def test_a_position_of_an_earlier_release_has_no_clocks() -> None:
    message = json.loads(text_of(replace(position(), bank_ms=(1, 2), notes=("a", ""))))
    assert parse(json.dumps(message)) == replace(position(), bank_ms=(1, 2), notes=("a", ""))
    assert parse(json.dumps({**message, "bank_ms": ["1", "2"]})) is None
    del message["bank_ms"], message["notes"]
    assert parse(json.dumps(message)) == position()


def test_events_are_received_in_order(redis_url: str, connection: Redis) -> None:
    def act() -> None:
        with EventPublisher(redis_url) as event_publisher:
            for event in ALL:
                event_publisher.publish(event)

    assert received(redis_url, connection, act, len(ALL)) == ALL


def test_malformed_messages_are_skipped(redis_url: str, connection: Redis) -> None:
    def act() -> None:
        for message in MALFORMED:
            connection.publish(messages.channel(0), message)
        publisher.send(connection, ALL[0])

    assert received(redis_url, connection, act, 1) == ALL[:1]


def test_positions_of_quick_games_are_sampled(
    redis_url: str, connection: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "_GAME_SECONDS", 60.0)

    def act() -> None:
        with EventPublisher(redis_url) as event_publisher:
            for games in range(1, 50):
                event_publisher.publish(GameOver("m-1", games, 50))
            event_publisher.publish(ALL[3])

    assert received(redis_url, connection, act, 2) == [GameOver("m-1", 1, 50), ALL[3]]


def test_two_arenas_on_one_redis_do_not_share_events(redis_url: str, connection: Redis) -> None:
    def act() -> None:
        with EventPublisher(f"{redis_url}?db=1") as other:
            other.publish(MatchStarted("m-other", "t-1", 1))
        with EventPublisher(redis_url) as event_publisher:
            event_publisher.publish(ALL[0])

    assert received(redis_url, connection, act, 1) == ALL[:1]


async def stored_positions(url: str, *matches: str) -> dict[str, Position]:
    async with messages.connect(url) as client:
        return await last_positions(client, matches)


def test_the_last_position_is_stored_until_the_match_closes(
    redis_url: str, connection: Redis
) -> None:
    with EventPublisher(redis_url) as event_publisher:
        event_publisher.publish(position(3))
        event_publisher.publish(position(4))
    assert asyncio.run(stored_positions(redis_url, "m-1", "m-2")) == {"m-1": position(4)}
    assert 0 < int(connection.ttl(messages.position_key("m-1"))) <= messages.POSITION_SECONDS
    with EventPublisher(redis_url) as event_publisher:
        event_publisher.publish(MatchClosed("m-1", "t-1"))
    assert connection.keys("*") == []
    assert asyncio.run(stored_positions(redis_url)) == {}


def test_a_position_is_renewed_during_a_long_decision(
    redis_url: str, connection: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "_RENEW_SECONDS", 0.01)
    key = messages.position_key("m-1")
    with EventPublisher(redis_url) as event_publisher:
        event_publisher.publish(position())
        wait_until(lambda: connection.exists(key))
        connection.expire(key, 5)
        wait_until(lambda: int(connection.ttl(key)) > 5)


def test_a_long_position_contains_only_the_last_deal(redis_url: str, connection: Redis) -> None:
    deals = [{"dealer": number % 4, "note": "x" * 200} for number in range(300)]
    view = {"pokex": {"deal": 300, "phase": "bid", "deals": deals}}
    long_position = Position("m-1", 0, 0, 0, 9, (1,), ("a@1", "b@1"), view)

    def act() -> None:
        with EventPublisher(redis_url) as event_publisher:
            event_publisher.publish(long_position)

    [event] = received(redis_url, connection, act, 1)
    assert isinstance(event, Position)
    assert len(text_of(long_position)) > publisher.MAX_POSITION_CHARACTERS > len(text_of(event))
    assert event.view == {"pokex": {"deal": 300, "phase": "bid", "deals": deals[-1:]}}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(("url", "warned"), [(None, 0), ("unix:///nowhere/at/all", 1)])
def test_without_redis_events_are_dropped(
    url: str | None, warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    with EventPublisher(url) as event_publisher:
        for decision in range(1000):
            event_publisher.publish(position(decision))
    assert len(warnings(caplog)) == warned


def publish_to_frozen_redis(path: Path, decisions: int) -> None:
    with socket.socket(socket.AF_UNIX) as frozen:
        frozen.bind(str(path))
        frozen.listen()
        with EventPublisher(f"unix://{path}") as event_publisher:
            for decision in range(decisions):
                event_publisher.publish(position(decision))


def test_a_frozen_redis_delays_neither_publish_nor_exit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that waits for Redis would exceed the test's timeout."""
    monkeypatch.setattr(publisher, "_REDIS_SECONDS", 3600.0)
    monkeypatch.setattr(publisher, "_FLUSH_SECONDS", 0.01)
    publish_to_frozen_redis(tmp_path / "r", 1000)
    for thread in threading.enumerate():
        if thread.name == "events":
            thread.join()


def test_a_frozen_redis_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(publisher, "_REDIS_SECONDS", 0.01)
    monkeypatch.setattr(publisher, "_SILENT_SECONDS", 0.0)
    publish_to_frozen_redis(tmp_path / "r", 10)
    assert len(warnings(caplog)) == 1


@pytest.mark.parametrize("is_noticed", [False, True], ids=["at once", "after a while"])
def test_a_subscriber_reconnects_when_redis_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, is_noticed: bool
) -> None:
    sockets = tmp_path / "s"
    sockets.mkdir()
    log = ProcessLog(tmp_path / "redis.log")
    received_events: list[Event] = []

    async def collect(events: AsyncIterator[Event]) -> None:
        while True:
            received_events.append(await anext(events))

    async def run(url: str) -> list[Event]:
        async with aclosing(listen(url)) as events:
            taking = asyncio.create_task(collect(events))
            for number, event in enumerate(ALL[:2], 1):
                with redis_server.start(sockets, log):
                    connection = redis_connection.connect(url)
                    await listeners(connection, 1)
                    publisher.send(connection, event)
                    await wait_until_async(lambda: len(received_events) >= number)  # noqa: B023
                    connection.close()
                if is_noticed:
                    await wait_until_async(lambda: warnings(caplog))
            taking.cancel()
            await asyncio.wait([taking])
            return received_events

    server = redis_server.start(sockets, log)
    url = server.url
    server.stop()
    assert asyncio.run(run(url)) == ALL[:2]


def test_a_subscriber_closes_a_silent_connection(
    redis_url: str, connection: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends a ping first, and keeps a connection that answers."""
    monkeypatch.setattr(messages, "_SILENT_SECONDS", 0.05)

    def connections() -> int:
        return int(connection.info("stats")["total_connections_received"])

    def pings() -> int:
        return int(connection.info("commandstats").get("cmdstat_ping", {}).get("calls", 0))

    async def run() -> Event:
        async with aclosing(listen(redis_url)) as events:
            first_event = asyncio.ensure_future(anext(events))
            await listeners(connection, 1)
            before = connections()
            # It keeps a connection beyond its first ping, unless the machine stalls for a moment.
            await wait_until_async(lambda: pings() >= 3 + connections() - before)
            before = connections()
            while await asyncio.to_thread(connections) == before:
                connection.client_pause(300)
            # After another stall it may miss an event.
            while not first_event.done():
                publisher.send(connection, ALL[0])
                await asyncio.sleep(0.01)
            return await first_event

    connection.config_resetstat()
    assert asyncio.run(run()) == ALL[0]


def test_timings_are_sent_at_the_end(redis_url: str, connection: Redis) -> None:
    timings.HERE.forget()
    with EventPublisher(redis_url) as event_publisher:
        event_publisher.publish(MatchStarted("m-1", "t-1", 1))
        timings.HERE.note(timings.TRANSACTION, "commit_game", 0.01)
    assert sum(timings.read(connection)["transaction"]["commit_game"].counts) == 1
