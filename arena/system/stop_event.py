"""A stop request that a signal handler may set."""

from __future__ import annotations

from queue import Empty, SimpleQueue


class StopEvent:
    """An event like `threading.Event` that is never cleared and that a signal handler may set.

    `threading.Event.wait` holds a lock for moments. A handler that runs in the same thread at such
    a moment and calls `set` would wait for that lock forever. `SimpleQueue.put` is reentrant
    (https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put).
    """

    def __init__(self) -> None:
        self._is_set = False
        self._wakeups: SimpleQueue[None] = SimpleQueue()

    def is_set(self) -> bool:
        """Return whether the event is set."""
        return self._is_set

    def set(self) -> None:
        """Set the event and wake the threads that wait for it."""
        self._is_set = True
        self._wakeups.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait at most this time until the event is set; return whether it is set."""
        if not self._is_set:
            try:
                self._wakeups.get(timeout=seconds)
            except Empty:
                return self._is_set
            # Wake the next thread that waits.
            self._wakeups.put(None)
        return self._is_set
