"""Waiting for changes: a waiter wakes up only for changes of its own topics."""

import asyncio

from arena.web.data.changes import Changes


def test_waiting_returns_at_once_after_an_earlier_change() -> None:
    async def wait() -> None:
        changes = Changes()
        before = changes.last
        changes.record("a")
        await changes.after({"a", "b"}, before)

    asyncio.run(wait())


def test_a_change_of_another_topic_wakes_no_waiter() -> None:
    async def wait() -> bool:
        changes = Changes()
        waiting = asyncio.create_task(changes.after({"a"}, changes.last))
        await asyncio.sleep(0)
        changes.record("b")
        for _ in range(5):
            await asyncio.sleep(0)
        still = not waiting.done()
        changes.record("a")
        await waiting
        return still

    assert asyncio.run(wait())
