"""Deadline: interrupt a task whose bot takes too long, without the time that is excused."""

import asyncio
from collections.abc import Iterable
from types import TracebackType
from typing import Self

Interval = tuple[float, float]
"""Beginning and end on the loop's clock, in seconds."""


class Deadline:
    """Interrupts its task when a wait takes too long, like ``asyncio.timeout``.

    One timer serves many waits. It is rescheduled only if it expires before the current deadline or
    would expire after it. This makes a wait about 20 us cheaper (bench/measurements.md). Only one
    task may use it at a time:

        with deadline.set(seconds):
            await ...
            deadline.check()

    Time in which a call of the bot's model failed is excused: it does not count. Whether a call has
    failed is known only when it is over, so a hold keeps the timer from expiring until then.

    Raises:
        TimeoutError: at the end of the ``with`` block, if the time limit has passed.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._began = 0.0
        self._deadline = 0.0
        """End of the time limit, which the excused time prolongs."""
        self._held_until = 0.0
        self._excused: list[Interval] = []
        self._task: asyncio.Task[object] | None = None
        self._has_expired = False
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> Self:
        """Set the time limit in seconds of the wait that begins now."""
        self._began = self._loop.time()
        self._deadline = self._began + seconds
        self._excused.clear()
        self._schedule()
        return self

    @property
    def excused(self) -> float:
        """Return the excused seconds of the current wait, or of the last one."""
        return _union_length(self._excused, self._began) if self._excused else 0.0

    def excuse(self, interval: Interval, hold: float) -> None:
        """Excuse an interval, as far as it belongs to the current wait, and set the hold.

        Args:
            interval: the interval. It may overlap others and begin before the wait.
            hold: seconds from now in which the timer does not expire. After the time limit of a
                wait its hold can only become shorter: calls that begin then prolong nothing.
        """
        before = self.excused
        self._excused.append(interval)
        self._deadline += self.excused - before
        now = self._loop.time()
        is_over = self._task is not None and now >= self._deadline
        self._held_until = min(now + hold, self._held_until) if is_over else now + hold
        if self._timer is not None:
            self._schedule()

    def check(self) -> None:
        """Check an answer that has arrived during a hold.

        Raises:
            TimeoutError: the time limit has passed.
        """
        if self._deadline < self._held_until and self._deadline <= self._loop.time():
            raise TimeoutError

    def _schedule(self) -> None:
        """Start the timer unless it expires early enough."""
        due = max(self._deadline, self._held_until)
        if self._timer is not None and self._timer.when() > due:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._expire)

    def _expire(self) -> None:
        self._timer = None
        if self._task is None:
            return
        if self._loop.time() < max(self._deadline, self._held_until):
            self._schedule()
            return
        self._has_expired = True
        self._task.cancel()

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._has_expired = False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        task, self._task = self._task, None
        if self._has_expired and task is not None and task.uncancel() == 0 and kind is not None:
            raise TimeoutError from error

    def close(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _union_length(intervals: Iterable[Interval], begin: float) -> float:
    """Return the length of the union of intervals, from `begin` on."""
    length, end = 0.0, begin
    for first, last in sorted(intervals):
        length += max(0.0, last - max(first, end))
        end = max(end, last)
    return length
