"""A rolled-back transaction publishes no events."""

import contextlib
import threading
from typing import Self

import pytest
from redis import Redis
from redis.exceptions import RedisError

from arena.config import REDIS
from arena.services.queue import redis_server
from arena.store.events import messages
from arena.store.events.messages import Event, GameOver, MatchClosed, MatchStarted
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.system import redis_connection
from arena.system.process_log import ProcessLog
from tests.faults.conftest import Conclude
from tests.faults.failpoint_runs import ACTS, assert_reached
from tests.faults.fault_arena import Arena
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

NAP = 0.05


class Subscriber:
    """Compares each event, when it arrives, with the store.

    Attributes:
        events: the events that arrived.
        premature: events whose content was not yet in the store.
    """

    def __init__(self, arena: Arena, url: str) -> None:
        self.events: list[Event] = []
        self.premature: list[Event] = []
        self._arena = arena
        self._client: Redis = redis_connection.connect(url)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._receive, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        self._client.close()

    def _receive(self) -> None:
        with contextlib.closing(self._client.pubsub(ignore_subscribe_messages=True)) as pubsub:  # type: ignore[no-untyped-call]
            pubsub.subscribe(messages.channel(0))
            while not self._stop.is_set():
                with contextlib.suppress(RedisError):
                    message = pubsub.get_message(timeout=0.1)
                    event = messages.parse(message["data"]) if message else None
                    if event is not None:
                        self.events.append(event)
                        if not self._is_stored(event):
                            self.premature.append(event)

    def _is_stored(self, event: Event) -> bool:
        match event:
            case MatchStarted(match, _, attempt):
                return listing.find_match(self._arena.engine, match).attempt >= attempt
            case GameOver(match, games, _):
                return listing.find_match(self._arena.engine, match).committed >= games
            case MatchClosed(match, _):
                return listing.find_match(self._arena.engine, match).state is MatchState.CLOSED
            case _:
                return True


@pytest.mark.parametrize(
    ("point", "act"),
    [
        ("lease.written", ""),
        ("commit_game.written", ""),
        ("closing_game.written", ""),
        ("closing_game.committed", ""),
        ("release.written", "kill the referee"),
    ],
)
def test_an_event_is_never_published_for_work_that_is_rolled_back(
    arena: Arena, conclude: Conclude, point: str, act: str
) -> None:
    arena.schedule([arena.slow("first", NAP), arena.slow("last", NAP, -1)], cycles=2)
    token = arena.token()
    directory = arena.temporary / "redis"
    directory.mkdir()
    with (
        redis_server.start(directory, ProcessLog(arena.root / "redis.log")) as server,
        Witness(arena, token) as witness,
        Subscriber(arena, server.url) as subscriber,
        arena.serving(1, **{REDIS[0]: server.url, "POKEARENA_FAILPOINT": f"{point}@{token}"}) as s,
    ):
        if act:
            s.until(lambda: bool(arena.sql("SELECT 1 FROM games LIMIT 1")))
            ACTS[act](s, witness)
        s.until(arena.over)
    directory.rmdir()
    assert_reached(token, point)
    assert subscriber.premature == []
    assert {MatchStarted, GameOver} <= {type(event) for event in subscriber.events}
    conclude(arena, witness, "SIGKILL while an event is published")
