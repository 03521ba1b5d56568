"""Event subscriber: receives events over Redis, delays and thins them, and passes them on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence

from redis.exceptions import RedisError

from arena.store.events import messages
from arena.store.events.messages import Event, GameOver, MatchClosed, MatchStarted, Position
from arena.web.data.changes import Changes, position_of

log = logging.getLogger("arena.web")

_MATCHES = 1000
"""Number of matches whose last position is stored."""
_HELD_OF_A_MATCH = 200
"""Maximum number of delayed positions of a match, for any delay."""

Listener = Callable[[Event], None]


class EventSubscriber:
    """Receives events and passes them on. Use it from the event loop's thread only.

    Args:
        nudge: called when the store may have changed.
        delay: seconds by which positions and ends of games are delayed; the end of a match is
            public and not delayed.
    """

    def __init__(
        self, changes: Changes, nudge: Callable[[], None], *, spectators: bool, delay: float
    ) -> None:
        self._changes = changes
        self._nudge = nudge
        self._spectators = spectators
        self._delay = delay
        self._held: deque[tuple[float, Event]] = deque()
        """Delayed events with the time at which they are passed on."""
        self._last_accepted: dict[str, float] = {}
        self._listeners: set[Listener] = set()
        self.positions: OrderedDict[str, Position] = OrderedDict()
        """Last published position of each running match."""
        self.shown_since: dict[str, float] = {}
        """When each of these positions was passed on, in seconds since 1970."""

    def add_listener(self, listener: Listener) -> None:
        """Call this listener with all events that spectators may receive."""
        self._listeners.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    async def run(self, url: str, running: Sequence[str]) -> None:
        """Receive the events of this Redis forever.

        Args:
            running: IDs of running matches, whose last positions are read first.
        """
        async with asyncio.TaskGroup() as group:
            # A failure of this task ends the group, so that both tasks are restarted.
            releasing = group.create_task(self._release())
            await self._catch_up(url, running)
            async for event in messages.listen(url):
                self.receive(event, time.monotonic())
            releasing.cancel()

    def receive(self, event: Event, now: float) -> None:
        """Process one event.

        Args:
            now: seconds of a monotonic clock.
        """
        match event:
            case Position():
                if not self._spectators or not self._is_due(event.match, now):
                    return
            case MatchStarted() | MatchClosed() | GameOver():
                self._nudge()
        if self._delay and isinstance(event, Position | GameOver):
            self._held.append((now + self._delay, event))
            return
        if isinstance(event, MatchClosed):
            self._forget(event.match)
        self._pass_on(event)

    def release(self, now: float) -> None:
        """Pass on the events whose delay has passed."""
        while self._held and self._held[0][0] <= now:
            self._pass_on(self._held.popleft()[1])

    async def _catch_up(self, url: str, running: Sequence[str]) -> None:
        # The age of these positions is unknown. With a delay they could be published too early.
        if self._delay or not running:
            return
        client = messages.connect(url)
        try:
            for position in (await messages.last_positions(client, running)).values():
                self.receive(position, time.monotonic())
        except (RedisError, OSError) as error:
            log.warning("cannot read the last positions of running matches: %s", error)
        finally:
            await client.aclose()

    async def _release(self) -> None:
        while self._delay:
            now = time.monotonic()
            self.release(now)
            wait = self._held[0][0] - now if self._held else self._delay
            await asyncio.sleep(min(max(wait, 0.05), 1.0))

    def _is_due(self, match: str, now: float) -> bool:
        """Whether to accept this position: a long delay limits the rate per match."""
        since = self._last_accepted.get(match)
        if since is not None and now - since < self._delay / _HELD_OF_A_MATCH:
            return False
        self._last_accepted[match] = now
        if len(self._last_accepted) > _MATCHES:
            del self._last_accepted[next(iter(self._last_accepted))]
        return True

    def _forget(self, match: str) -> None:
        """Remove a finished match: its record is public, so delayed events are obsolete."""
        self.positions.pop(match, None)
        self.shown_since.pop(match, None)
        self._last_accepted.pop(match, None)
        self._held = deque(held for held in self._held if _match_of(held[1]) != match)
        self._changes.forget(position_of(match))

    def _pass_on(self, event: Event) -> None:
        if isinstance(event, Position):
            self.positions[event.match] = event
            self.shown_since[event.match] = time.time()
            self.positions.move_to_end(event.match)
            if len(self.positions) > _MATCHES:
                gone, _ = self.positions.popitem(last=False)
                self.shown_since.pop(gone, None)
                self._changes.forget(position_of(gone))
            self._changes.record(position_of(event.match))
        for listener in tuple(self._listeners):
            listener(event)


def _match_of(event: Event) -> str:
    return event.match if isinstance(event, Position | GameOver) else ""
