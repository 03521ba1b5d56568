"""The news as spectators may have them: heard over Redis, held back, thinned, and passed on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redis.exceptions import RedisError

from arena.events import messages
from arena.events.messages import GameOver, MatchClosed, MatchStarted, News, Position
from arena.web.data.changes import Changes, position_of

log = logging.getLogger("arena.web")

_MATCHES = 1000
"""Of so many matches the last position is kept."""
_HELD_OF_A_MATCH = 200
"""So many positions of a match are held back at the most, however long the delay is."""

Listener = Callable[[News], None]


@dataclass(frozen=True, slots=True)
class _Held:
    until: float
    news: News


class EventSubscriber:
    """Hears the news and passes them on. For the one thread of the event loop.

    spectators: whether positions are passed on at all. delay: so many seconds after they were
    heard, positions and ends of games; what has closed is public and not held back.
    nudge: called when the store may have something new.
    """

    def __init__(
        self, changes: Changes, nudge: Callable[[], None], *, spectators: bool, delay: float
    ) -> None:
        self._changes = changes
        self._nudge = nudge
        self._spectators = spectators
        self._delay = delay
        self._held: deque[_Held] = deque()
        self._heard: dict[str, float] = {}
        self._listeners: set[Listener] = set()
        self.positions: OrderedDict[str, Position] = OrderedDict()
        """By match: the last position of those that are being played, as far as it is shown."""

    def join(self, listener: Listener) -> None:
        """From now on this is called with all news that spectators may have."""
        self._listeners.add(listener)

    def leave(self, listener: Listener) -> None:
        """It is not called any more."""
        self._listeners.discard(listener)

    async def run(self, url: str, running: Sequence[str]) -> None:
        """Hears the news of this Redis for ever, beginning with where these matches stand."""
        async with asyncio.TaskGroup() as group:
            # Its failure ends the group, so that both are restarted.
            releasing = group.create_task(self._release())
            await self._catch_up(url, running)
            async for heard in messages.listen(url):
                self.hear(heard, time.monotonic())
            releasing.cancel()

    def hear(self, heard: News, now: float) -> None:
        """Takes up some news.

        now: in seconds, on a clock that only goes forward.
        """
        match heard:
            case Position():
                if not self._spectators or not self._is_due(heard.match, now):
                    return
            case MatchStarted() | MatchClosed() | GameOver():
                self._nudge()
        if self._delay and isinstance(heard, Position | GameOver):
            self._held.append(_Held(now + self._delay, heard))
            return
        if isinstance(heard, MatchClosed):
            self._forget(heard.match)
        self._pass_on(heard)

    def release(self, now: float) -> None:
        """Passes on what has been held back for long enough."""
        while self._held and self._held[0].until <= now:
            self._pass_on(self._held.popleft().news)

    async def _catch_up(self, url: str, running: Sequence[str]) -> None:
        # How old they are is not said, so with a delay they may be too new.
        if self._delay or not running:
            return
        client = messages.connect(url)
        try:
            for position in (await messages.last_positions(client, running)).values():
                self.hear(position, time.monotonic())
        except (RedisError, OSError) as error:
            log.warning("where matches stand is not known yet: %s", error)
        finally:
            await client.aclose()

    async def _release(self) -> None:
        while self._delay:
            now = time.monotonic()
            self.release(now)
            wait = self._held[0].until - now if self._held else self._delay
            await asyncio.sleep(min(max(wait, 0.05), 1.0))

    def _is_due(self, match: str, now: float) -> bool:
        """Whether a position of this match is taken up: with a long delay not each is."""
        since = self._heard.get(match)
        if since is not None and now - since < self._delay / _HELD_OF_A_MATCH:
            return False
        self._heard[match] = now
        if len(self._heard) > _MATCHES:
            del self._heard[next(iter(self._heard))]
        return True

    def _forget(self, match: str) -> None:
        """A match is over: its record is public now, and what is held back of it no news."""
        self.positions.pop(match, None)
        self._heard.pop(match, None)
        self._held = deque(held for held in self._held if _match_of(held.news) != match)
        self._changes.forget(position_of(match))

    def _pass_on(self, told: News) -> None:
        if isinstance(told, Position):
            self.positions[told.match] = told
            self.positions.move_to_end(told.match)
            if len(self.positions) > _MATCHES:
                gone, _ = self.positions.popitem(last=False)
                self._changes.forget(position_of(gone))
            self._changes.tell(position_of(told.match))
        for listener in tuple(self._listeners):
            listener(told)


def _match_of(told: News) -> str:
    return told.match if isinstance(told, Position | GameOver) else ""
