"""The event feed, with the messages that a client reads."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from arena.cli.workspace import Workspace
from arena.store.events.messages import (
    Event,
    GameOver,
    MatchClosed,
    MatchStarted,
    Position,
    TournamentChanged,
)
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.serving import feed as module
from arena.web.serving.feed import Feed, FeedFilter
from tests.arena.cli.stored_tournament import store_tournament
from tests.waiting import wait_until_async


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "data")
    store_tournament(
        workspace, ["ada", "bob", "cy"], {frozenset({"ada", "bob"}): [("ada", "bob")]}, boards=1
    )
    return workspace


class FeedClient:
    """A client that reads the feed."""

    def __init__(self, lines: AsyncIterator[bytes]) -> None:
        self._lines = lines

    async def next(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await anext(self._lines))
        return message


Act = Callable[[WebState, Feed], Awaitable[Any]]


def with_feed(workspace: Workspace, act: Act, settings: ServerSettings | None = None) -> Any:
    """Run `act` while a feed sends events."""

    async def run() -> Any:
        web = WebState(workspace.store, settings or ServerSettings())
        await web.read_store()
        feed = Feed(web)
        sending = asyncio.create_task(feed.run())
        await asyncio.sleep(0)
        try:
            return await act(web, feed)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    return asyncio.run(run())


def received_messages(
    workspace: Workspace, events: list[Event], feed_filter: FeedFilter, many: int
) -> list[dict[str, Any]]:
    """Return the messages that a client receives after the `hello` message."""

    async def act(web: WebState, feed: Feed) -> list[dict[str, Any]]:
        reader = FeedClient(feed.read(feed_filter, events=False))
        assert (await reader.next())["type"] == "hello"
        for event in events:
            web.events.receive(event, 0.0)
        return [await reader.next() for _ in range(many)]

    messages: list[dict[str, Any]] = with_feed(workspace, act)
    return messages


def position(match: str) -> Position:
    return Position(match, 0, 0, 0, 3, (1,), ("ada@1", "bob@1"), {"poke": {"deal": 1}})


def test_a_closed_match_is_sent_with_its_result(workspace: Workspace) -> None:
    closed = listing.matches(workspace.store, states=(MatchState.CLOSED,))
    [match] = [
        closed_match for closed_match in closed if closed_match.entrants == ("ada@1", "bob@1")
    ]
    [message] = received_messages(
        workspace, [MatchClosed(match.id, match.tournament)], FeedFilter(), 1
    )
    assert message.pop("at") > 0
    assert message == {
        "type": "match_closed",
        "match": match.id,
        "tournament": match.tournament,
        "form": "poke",
        "ladder": "poke",
        "entrants": ["ada@1", "bob@1"],
        "scores": [1.0, 0.0],
        "games": 2,
        "faults": [0, 0],
    }


def test_every_message_has_its_tournament_and_form(workspace: Workspace) -> None:
    [match, *_] = listing.matches(workspace.store)
    news: list[Event] = [
        MatchStarted(match.id, match.tournament, 1),
        position(match.id),
        GameOver(match.id, 1, 2),
        TournamentChanged(match.tournament, "closed"),
    ]
    messages = received_messages(workspace, news, FeedFilter(), 4)
    names = ["match_started", "position", "game_over", "tournament"]
    assert [message["type"] for message in messages] == names
    assert {(message["tournament"], message["form"]) for message in messages} == {
        (match.tournament, "poke")
    }
    assert messages[1]["view"] == {"poke": {"deal": 1}}


def test_only_events_that_match_the_filter_are_sent(workspace: Workspace) -> None:
    first, second, *_ = listing.matches(workspace.store)
    news: list[Event] = [position(first.id), position(second.id), GameOver(first.id, 1, 2)]
    messages = received_messages(workspace, news, FeedFilter(match=first.id), 2)
    assert [(message["type"], message["match"]) for message in messages] == [
        ("position", first.id),
        ("game_over", first.id),
    ]
    assert (
        received_messages(workspace, news, FeedFilter(form="poke", tournament=first.tournament), 3)[
            2
        ]
        != messages[0]
    )
    other: list[Event] = [*news, TournamentChanged(first.tournament, "paused")]
    assert received_messages(workspace, other, FeedFilter(form="poke"), 4)[3]["state"] == "paused"


def test_events_of_another_form_are_not_sent(workspace: Workspace) -> None:
    async def act(web: WebState, feed: Feed) -> bool:
        reader = FeedClient(feed.read(FeedFilter(form="pouku-3"), events=False))
        await reader.next()
        everything = FeedClient(feed.read(FeedFilter(), events=False))
        await everything.next()
        [match, *_] = listing.matches(workspace.store)
        waiting = asyncio.create_task(reader.next())
        web.events.receive(position(match.id), 0.0)
        assert (await everything.next())["type"] == "position"
        await asyncio.sleep(0)
        still = not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return still

    assert with_feed(workspace, act)


def test_a_changed_ladder_is_sent_with_its_top(workspace: Workspace) -> None:
    async def act(web: WebState, feed: Feed) -> dict[str, Any]:
        reader = FeedClient(feed.read(FeedFilter(form="poke"), events=False))
        await reader.next()
        store_tournament(workspace, ["dan", "eve"], {}, boards=1)
        await web.read_store()
        return await reader.next()

    messages = with_feed(workspace, act)
    assert (messages["type"], messages["form"], messages["bots"]) == ("ladder", "poke", 5)
    assert len(messages["top"]) == 5
    assert {message["bot"] for message in messages["top"]} >= {"ada@1", "dan@1"}


def test_messages_can_be_sent_as_server_sent_events(workspace: Workspace) -> None:
    async def act(web: WebState, feed: Feed) -> list[bytes]:
        events = feed.read(FeedFilter(), events=True)
        first = await anext(events)
        [match, *_] = listing.matches(workspace.store)
        web.events.receive(position(match.id), 0.0)
        return [first, await anext(events)]

    hello, first_message = with_feed(workspace, act)
    assert hello.startswith(b'event: hello\ndata: {"type":"hello",')
    head, data, *rest = first_message.decode().split("\n")
    assert head == "event: position"
    assert json.loads(data.removeprefix("data: "))["decision"] == 3
    assert rest == ["", ""]


def test_a_slow_reader_misses_the_oldest_messages_and_gets_their_number(
    workspace: Workspace,
) -> None:
    async def act(web: WebState, feed: Feed) -> list[dict[str, Any]]:
        reader = FeedClient(feed.read(FeedFilter(), events=False))
        await reader.next()
        [match, *_] = listing.matches(workspace.store)
        for games in range(module._MAX_UNREAD + 10):
            web.events.receive(GameOver(match.id, games, 1000), 0.0)
        await wait_until_async(feed._waiting.empty)
        return [await reader.next() for _ in range(2)]

    missed, next_one = with_feed(workspace, act)
    assert (missed["type"], missed["messages"]) == ("missed", 10)
    assert next_one["games"] == 10


@pytest.mark.parametrize("events", [True, False])
def test_an_idle_connection_is_kept_open(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, events: bool
) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.05)

    async def act(web: WebState, feed: Feed) -> bytes:
        read_events = feed.read(FeedFilter(), events=events)
        await anext(read_events)
        return await anext(read_events)

    assert with_feed(workspace, act) == (b": nothing new\n\n" if events else b"\n")
