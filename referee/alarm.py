"""A time limit for waits that come thousands of times a second."""

import asyncio
from types import TracebackType
from typing import Self


class Alarm:
    """Interrupts its task when a wait lasts too long, as ``asyncio.timeout`` does.

    One timer serves many waits: it is moved only when it rings before its time, or would ring
    too late. That makes a wait about 20 us cheaper (bench/README.md). Used by one task at a time:

        with alarm.set(seconds):
            await ...

    Raises:
        TimeoutError: from the ``with``, when the time is up.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadline = 0.0
        self._task: asyncio.Task[object] | None = None
        self._rang = False
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> Self:
        """Sets the time limit of the wait that begins now."""
        self._deadline = self._loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._deadline:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(self._deadline, self._ring)
        return self

    def _ring(self) -> None:
        self._timer = None
        if self._task is None:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._ring)
            return
        self._rang = True
        self._task.cancel()

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._rang = False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        task, self._task = self._task, None
        if self._rang and task is not None and task.uncancel() == 0 and kind is not None:
            raise TimeoutError from error

    def close(self) -> None:
        """Takes the timer away."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
