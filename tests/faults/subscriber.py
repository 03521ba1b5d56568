"""Compare the events that an arena publishes with its store."""

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from redis import Redis
from redis.exceptions import RedisError

from arena.services.queue import redis_server
from arena.store.events import messages
from arena.store.events.messages import Event, GameOver, MatchClosed, MatchStarted
from arena.store.matches import listing
from arena.store.schema import MatchState
from arena.system import redis_connection
from arena.system.process_log import ProcessLog
from tests.faults.fault_arena import Arena


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


@contextmanager
def subscribed(arena: Arena) -> Iterator[None]:
    """Run a Redis for the arena's services, and subscribe to its events.

    At the end, check that events arrived, and that none was published for work that is rolled back.
    """
    directory = arena.temporary / "redis"
    directory.mkdir()
    with (
        redis_server.start(directory, ProcessLog(arena.root / "redis.log")) as server,
        Subscriber(arena, server.url) as subscriber,
    ):
        arena.redis = server.url
        yield
    arena.redis = ""
    directory.rmdir()
    assert subscriber.premature == []
    assert {MatchStarted, GameOver} <= {type(event) for event in subscriber.events}
