"""Change numbers per topic, for caches and for tasks that wait for a change."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

ARENA = "arena"
"""Topic of the store's contents: matches, tournaments and bots."""

SUBMISSIONS = "submissions"
"""Topic of the submissions and their states."""


def position_of(match: str) -> str:
    """Return the topic of the position at the table of a running match."""
    return f"position:{match}"


class Changes:
    """Numbers the changes of all topics from 1. Use it from the event loop's thread only."""

    def __init__(self) -> None:
        self.last = 0
        self._last: dict[str, int] = {}
        self._waiting: set[asyncio.Event] = set()

    def record(self, *topics: str) -> None:
        """Record a change of these topics and wake the waiting tasks."""
        self.last += 1
        self._last.update(dict.fromkeys(topics, self.last))
        for event in self._waiting:
            event.set()

    def newest(self, topics: Collection[str]) -> int:
        """Return the number of the last change of any of these topics; 0 without one."""
        return max((self._last.get(topic, 0) for topic in topics), default=0)

    def forget(self, topic: str) -> None:
        """Drop a topic that will not change any more."""
        self._last.pop(topic, None)

    async def after(self, topics: Collection[str], number: int) -> None:
        """Wait until one of these topics has a change with a higher number."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            while self.newest(topics) <= number:
                event.clear()
                await event.wait()
        finally:
            self._waiting.discard(event)
