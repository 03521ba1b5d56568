"""Measure the time in which the models of one bot fail, so that its clock does not count it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimeReport:
    """A report to the referee when a call begins or ends; times are in seconds.

    Attributes:
        hold: how long a call may still take, so that its time may be excused; 0 without a call.
        excused_from: beginning of the excused time, before now.
        excused_to: its end, before now; equal to the beginning if nothing is excused.
    """

    hold: float
    excused_from: float = 0.0
    excused_to: float = 0.0


@dataclass(slots=True, eq=False)
class TimedCall:
    """A call of a bot with its repetitions.

    Attributes:
        began: when its first try began.
        last_try: when its last try began.
        has_failed: whether a try has failed.
    """

    began: float
    last_try: float
    has_failed: bool = False


class ExcusedTime:
    """The excused time of a bot at its table.

    A call excuses the time from its first try to its last one, if that one is answered. So a bot
    pays what it would have paid without the failure, and a call that fails because of its own
    content excuses nothing.

    Args:
        longest_call: seconds that a call with its repetitions may take.
        report: sends a report to the referee, and returns when this has received it.
    """

    def __init__(self, longest_call: float, report: Callable[[TimeReport], None]) -> None:
        self._longest_call = longest_call
        self._report = report
        self._lock = threading.Lock()
        self._open: list[TimedCall] = []
        self._total = 0.0
        self._end = 0.0
        """End of the latest excused interval."""

    @contextmanager
    def call(self) -> Iterator[TimedCall]:
        """Time a call; it is answered if the block ends without an exception."""
        now = time.monotonic()
        timed = TimedCall(now, now)
        with self._lock:
            self._open.append(timed)
            self._report(TimeReport(self._hold()))
        ended = timed.began
        try:
            yield timed
            ended = timed.last_try if timed.has_failed else timed.began
        finally:
            with self._lock:
                self._open.remove(timed)
                self._close(timed.began, ended)

    def milliseconds(self) -> int:
        """Return the excused time since the table began, with that of calls being repeated."""
        with self._lock:
            now = time.monotonic()
            began = min((each.began for each in self._open if each.has_failed), default=now)
            return round(1000 * (self._total + max(0.0, now - max(began, self._end))))

    def _close(self, began: float, ended: float) -> None:
        """Excuse an interval; where calls overlap, the sum may be too small, never too large."""
        self._total += max(0.0, ended - max(began, self._end))
        self._end = max(self._end, ended)
        now = time.monotonic()
        self._report(TimeReport(self._hold(), now - began, now - ended))

    def _hold(self) -> float:
        began = max((each.began for each in self._open), default=float("-inf"))
        return max(0.0, began + self._longest_call - time.monotonic())
