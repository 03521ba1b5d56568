"""News over a real Valkey: told without waiting, heard again after a break, dropped if odd."""

import asyncio
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from redis import Redis

from arena.config import Folder
from arena.events import messages, publisher
from arena.events.messages import (
    GameOver,
    MatchClosed,
    MatchStarted,
    News,
    Position,
    TournamentChanged,
    last_positions,
    listen,
    parse,
    text_of,
    view_of,
)
from arena.events.publisher import EventPublisher
from arena.queue import redis_server
from arena.system import redis_connection, timings
from referee.game_codec import DecodeError, json_of
from referee.games.registry import find
from referee.games.shared.dealing import Seeded

VIEW = {"poke": json_of(find("poke").start(Seeded(bytes(32))).public())}


def position(decision: int = 0, match: str = "m-1") -> Position:
    """A position of a match."""
    return Position(match, 0, 0, 0, decision, (1,), ("a@1", "b@1"), VIEW)


ALL: list[News] = [
    MatchStarted("m-1", "t-1", 1),
    position(),
    GameOver("m-1", 1, 2),
    MatchClosed("m-1", "t-1"),
    TournamentChanged("t-1", "closed"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Valkey of this module's own."""
    where = Folder(tmp_path_factory.mktemp("news") / "data")
    with redis_server.resolve(where, {}) as address:
        yield address.url


@pytest.fixture
def connection(server: str) -> Iterator[Redis]:
    """An empty Redis."""
    client = redis_connection.connect(server)
    client.flushall()
    yield client
    client.close()


async def listeners(connection: Redis, number: int, database: int = 0) -> None:
    """Returns when so many listen."""
    name = messages.channel(database)
    while dict(connection.pubsub_numsub(name))[name.encode()] != number:
        await asyncio.sleep(0.01)


async def take(heard: AsyncIterator[News], number: int) -> list[News]:
    """So many news."""
    return [await anext(heard) for _ in range(number)]


def heard_of(url: str, connection: Redis, act: Callable[[], object], number: int) -> list[News]:
    """The first so many news that somebody hears of what is done."""

    async def run() -> list[News]:
        async with aclosing(listen(url)) as heard:
            taking = asyncio.create_task(take(heard, number))
            await listeners(connection, 1)
            act()
            return await taking

    return asyncio.run(run())


@pytest.mark.parametrize("told", ALL, ids=messages.name_of)
def test_what_is_told_is_one_line_of_json_and_is_read_as_what_it_was(told: News) -> None:
    text = text_of(told)
    assert json.loads(text)["type"] == messages.name_of(told)
    assert "\n" not in text
    assert parse(text) == told
    assert parse(text.encode()) == told


def test_a_position_holds_the_view_of_the_rules() -> None:
    assert view_of(position()) == find("poke").start(Seeded(bytes(32))).public()


@pytest.mark.parametrize("view", [{}, {"chess": {}}, {"poke": {"hand": 5}}, {"poke": 1}], ids=str)
def test_a_position_of_no_game_is_refused(view: dict[str, object]) -> None:
    odd = Position("m-1", 0, 0, 0, 0, (), (), view)
    with pytest.raises(DecodeError):
        view_of(odd)


ODD: list[str | bytes] = [
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
    text_of(position())[:-1] + ',"more":"' + "x" * messages.LONGEST + '"}',
    b"\xff\xfe",
]


@pytest.mark.parametrize("message", ODD, ids=lambda message: str(message[:40]))
def test_what_is_no_message_of_ours_is_none(message: str | bytes) -> None:
    assert parse(message) is None


def test_what_a_herald_tells_is_heard_in_order(server: str, connection: Redis) -> None:
    def act() -> None:
        with EventPublisher(server) as mine:
            for told in ALL:
                mine.tell(told)

    assert heard_of(server, connection, act, len(ALL)) == ALL


def test_what_is_malformed_is_passed_over(server: str, connection: Redis) -> None:
    def act() -> None:
        for message in ODD:
            connection.publish(messages.channel(0), message)
        publisher.publish(connection, ALL[0])

    assert heard_of(server, connection, act, 1) == ALL[:1]


def test_games_that_follow_each_other_quickly_are_not_all_told(
    server: str, connection: Redis
) -> None:
    def act() -> None:
        with EventPublisher(server) as mine:
            for games in range(1, 50):
                mine.tell(GameOver("m-1", games, 50))
            mine.tell(ALL[3])

    assert heard_of(server, connection, act, 2) == [GameOver("m-1", 1, 50), ALL[3]]


def test_two_arenas_on_one_redis_do_not_hear_each_other(server: str, connection: Redis) -> None:
    def act() -> None:
        with EventPublisher(f"{server}?db=1") as other:
            other.tell(MatchStarted("m-other", "t-1", 1))
        with EventPublisher(server) as mine:
            mine.tell(ALL[0])

    assert heard_of(server, connection, act, 1) == ALL[:1]


async def where_it_stands(url: str, *matches: str) -> dict[str, Position]:
    """The last positions of matches."""
    async with messages.connect(url) as client:
        return await last_positions(client, matches)


def test_who_comes_later_sees_where_a_match_stands_until_it_is_closed(
    server: str, connection: Redis
) -> None:
    with EventPublisher(server) as mine:
        mine.tell(position(3))
        mine.tell(position(4))
    found = asyncio.run(where_it_stands(server, "m-1", "m-2"))
    assert found == {"m-1": position(4)}
    assert 0 < int(connection.ttl(messages.position_key("m-1"))) <= messages.POSITION_SECONDS
    with EventPublisher(server) as mine:
        mine.tell(MatchClosed("m-1", "t-1"))
    assert connection.keys("*") == []
    assert asyncio.run(where_it_stands(server)) == {}


def test_a_position_stays_while_a_bot_thinks_for_long(
    server: str, connection: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "_RENEW_SECONDS", 0.01)
    key = messages.position_key("m-1")
    with EventPublisher(server) as mine:
        mine.tell(position())
        while not connection.exists(key):
            time.sleep(0.01)
        connection.expire(key, 5)
        while int(connection.ttl(key)) <= 5:
            time.sleep(0.01)


def test_a_long_past_is_left_out_but_for_the_last_deal(server: str, connection: Redis) -> None:
    deals = [{"dealer": number % 4, "note": "x" * 200} for number in range(300)]
    view = {"pokex": {"deal": 300, "phase": "bid", "deals": deals}}
    told = Position("m-1", 0, 0, 0, 9, (1,), ("a@1", "b@1"), view)

    def act() -> None:
        with EventPublisher(server) as mine:
            mine.tell(told)

    [heard] = heard_of(server, connection, act, 1)
    assert isinstance(heard, Position)
    assert len(text_of(told)) > publisher.LONGEST > len(text_of(heard))
    assert heard.view == {"pokex": {"deal": 300, "phase": "bid", "deals": deals[-1:]}}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What has been warned of."""
    return [record.message for record in caplog.records if record.levelno >= logging.WARNING]


def test_without_a_redis_nothing_is_told_and_nothing_waits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    began = time.monotonic()
    for url, said in ((None, 0), ("unix:///nowhere/at/all", 1)):
        caplog.clear()
        with EventPublisher(url) as mine:
            for decision in range(1000):
                mine.tell(position(decision))
        assert len(warnings(caplog)) == said
    assert time.monotonic() - began < 1


def test_a_redis_that_is_frozen_delays_nobody_but_a_moment_at_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket(socket.AF_UNIX) as frozen:
        frozen.bind(str(tmp_path / "r"))
        frozen.listen()
        with EventPublisher(f"unix://{tmp_path / 'r'}") as mine:
            began = time.monotonic()
            for decision in range(1000):
                mine.tell(position(decision))
            assert time.monotonic() - began < 0.2
            began = time.monotonic()
        assert time.monotonic() - began < 2
    assert len(warnings(caplog)) <= 1


def test_a_listener_hears_again_when_redis_has_been_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sockets = tmp_path / "s"
    sockets.mkdir()
    log = tmp_path / "redis.log"

    async def run(url: str) -> list[News]:
        async with aclosing(listen(url)) as heard:
            taking = asyncio.create_task(take(heard, 2))
            for told in ALL[:2]:
                with redis_server.start(sockets, log):
                    connection = redis_connection.connect(url)
                    await listeners(connection, 1)
                    publisher.publish(connection, told)
                    await asyncio.sleep(0.05)
                    connection.close()
            return await taking

    server = redis_server.start(sockets, log)
    url = server.url
    server.stop()
    assert asyncio.run(run(url)) == ALL[:2]
    assert len(warnings(caplog)) >= 1


def test_a_listener_gives_up_a_connection_that_stays_silent(
    server: str, connection: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks whether Redis is there; one that answers keeps it."""
    monkeypatch.setattr(messages, "_SILENT_SECONDS", 0.05)

    async def run() -> News:
        async with aclosing(listen(server)) as heard:
            waiting = asyncio.ensure_future(anext(heard))
            await listeners(connection, 1)
            before = connection.info("stats")["total_connections_received"]
            await asyncio.sleep(0.4)
            assert connection.info("stats")["total_connections_received"] == before
            connection.client_pause(300)
            await asyncio.sleep(0.35)
            while connection.info("stats")["total_connections_received"] == before:
                await asyncio.sleep(0.02)
            await listeners(connection, 1)
            publisher.publish(connection, ALL[0])
            return await waiting

    assert asyncio.run(run()) == ALL[0]


def test_the_last_a_herald_tells_is_how_long_things_took(
    server: str, connection: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    timings.HERE.forget()
    with EventPublisher(server) as mine:
        mine.tell(MatchStarted("m-1", "t-1", 1))
        timings.HERE.note(timings.TRANSACTION, "commit_game", 0.01)
    found = timings.read(connection)
    # Where Redis was too slow for it they are lost, and that is said.
    lost = "news are not told" in caplog.text
    assert lost or sum(found["transaction"]["commit_game"].counts) == 1
