"""Test restarts of failed threads and tasks, and the counts of their failures, on a real Valkey."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from arena.config import Folder
from arena.services.queue import redis_server
from arena.services.queue.redis_server import Address
from arena.store.events import incidents, restarts
from arena.system import redis_connection


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Address]:
    """Start a Redis for one test."""
    with redis_server.resolve(Folder(tmp_path / "data").create(), {}) as address:
        yield address


@pytest.fixture
def connection(redis: Address) -> Iterator[Redis]:
    with redis_connection.connect(redis.url) as connection:
        yield connection


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between restarts."""
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


def test_a_thread_that_fails_is_restarted_and_counted(redis: Address, connection: Redis) -> None:
    restarts.keep_running("lift", Failing(3), redis.url, threading.Event())
    counted = incidents.read(connection)
    assert counted.failures == {"lift": 3}
    assert counted.errors == {"lift": "RuntimeError: failure 3"}


def test_a_stopped_thread_is_not_restarted(redis: Address, connection: Redis) -> None:
    stop = threading.Event()
    stop.set()
    restarts.keep_running("lift", Failing(3), redis.url, stop)
    assert incidents.read(connection).failures == {"lift": 1}


def test_a_task_that_fails_is_restarted_and_counted(redis: Address, connection: Redis) -> None:
    work = Failing(2)

    async def task() -> None:
        work()

    asyncio.run(restarts.keep_task_running("lift", task, redis.url))
    assert incidents.read(connection).failures == {"lift": 2}


def test_the_member_of_a_group_of_one_is_counted(redis: Address, connection: Redis) -> None:
    work = Failing(1)

    async def task() -> None:
        async def member() -> None:
            work()

        async with asyncio.TaskGroup() as group:
            group.create_task(member())

    asyncio.run(restarts.keep_task_running("lift", task, redis.url))
    assert incidents.read(connection).errors == {"lift": "RuntimeError: failure 1"}


def test_a_cancelled_task_is_not_restarted(redis: Address, connection: Redis) -> None:
    async def cancel() -> None:
        started = asyncio.Event()

        async def work() -> None:
            started.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(restarts.keep_task_running("lift", work, redis.url))
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
