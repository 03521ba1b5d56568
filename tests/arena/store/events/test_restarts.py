"""Test restarts of failed threads and tasks, and the counts of their failures, on a real Valkey."""

import asyncio
import threading

import pytest
from redis import Redis

from arena.store.events import incidents, restarts


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restarts, "FIRST_PAUSE_SECONDS", 0.001)


class Failing:
    """A function that raises a number of times, and then returns."""

    def __init__(self, times: int) -> None:
        self._times = times
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1
        if self.calls <= self._times:
            raise RuntimeError(f"failure {self.calls}")


def test_a_thread_that_fails_is_restarted_and_counted(redis_url: str, connection: Redis) -> None:
    restarts.keep_running("lift", Failing(3), redis_url, threading.Event())
    counted = incidents.read(connection)
    assert counted.failures == {"lift": 3}
    assert counted.errors == {"lift": "RuntimeError: failure 3"}


def test_a_stopped_thread_is_not_restarted(redis_url: str, connection: Redis) -> None:
    stop = threading.Event()
    stop.set()
    restarts.keep_running("lift", Failing(3), redis_url, stop)
    assert incidents.read(connection).failures == {"lift": 1}


@pytest.mark.parametrize("in_group", [False, True])
def test_a_task_that_fails_is_restarted_and_counted(
    redis_url: str, connection: Redis, in_group: bool
) -> None:
    work = Failing(2)

    async def member() -> None:
        work()

    async def group_of_one() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(member())

    task = group_of_one if in_group else member
    asyncio.run(restarts.keep_task_running("lift", task, redis_url))
    counted = incidents.read(connection)
    assert counted.failures == {"lift": 2}
    assert counted.errors == {"lift": "RuntimeError: failure 2"}


def test_a_cancelled_task_is_not_restarted(redis_url: str, connection: Redis) -> None:
    async def cancel() -> None:
        started = asyncio.Event()

        async def work() -> None:
            started.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(restarts.keep_task_running("lift", work, redis_url))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert incidents.read(connection).failures == {}


@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:1/0"], ids=["none", "unreachable"])
def test_failed_work_is_restarted_without_redis(url: str) -> None:
    work = Failing(2)
    restarts.keep_running("lift", work, url, threading.Event())
    assert work.calls == 3
