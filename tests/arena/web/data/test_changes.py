"""Waiting for changes: a waiter wakes up only for changes of its own topics."""

import asyncio

from arena.web.data.changes import Changes
from tests.event_loop import in_event_loop


@in_event_loop
async def test_waiting_returns_at_once_after_an_earlier_change() -> None:
    changes = Changes()
    before = changes.last
    changes.record("a")
    await changes.after({"a", "b"}, before)


@in_event_loop
async def test_a_change_of_another_topic_wakes_no_waiter() -> None:
    changes = Changes()
    waiting = asyncio.create_task(changes.after({"a"}, changes.last))
    await asyncio.sleep(0)
    changes.record("b")
    for _ in range(5):
        await asyncio.sleep(0)
    still = not waiting.done()
    changes.record("a")
    await waiting
    assert still
