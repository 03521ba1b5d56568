"""What has changed when: topics with the number of their last change, and who waits for one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

ARENA = "arena"
"""Something in the store: a match, a tournament, a bot."""

HISTORIES = "histories"
"""A point of the history of a ladder."""

SUBMISSIONS = "submissions"
"""Something that an owner has pushed, or what becomes of it."""


def position_of(match: str) -> str:
    """The topic of the position on the table of a match that is being played."""
    return f"position:{match}"


class Changes:
    """Numbers changes, whatever their topic, from 1. For the one thread of the event loop."""

    def __init__(self) -> None:
        self.last = 0
        self._last: dict[str, int] = {}
        self._waiting: set[asyncio.Event] = set()

    def tell(self, *topics: str) -> None:
        """Notes a change of these topics, and wakes who waits."""
        self.last += 1
        self._last.update(dict.fromkeys(topics, self.last))
        for event in self._waiting:
            event.set()

    def newest(self, topics: Collection[str]) -> int:
        """The number of the last change of any of these; 0 if there was none."""
        return max((self._last.get(topic, 0) for topic in topics), default=0)

    def forget(self, topic: str) -> None:
        """Drops a topic that will not change any more."""
        self._last.pop(topic, None)

    async def after(self, topics: Collection[str], number: int) -> None:
        """Waits until one of these has changed after the change of this number."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            while self.newest(topics) <= number:
                event.clear()
                await event.wait()
        finally:
            self._waiting.discard(event)
