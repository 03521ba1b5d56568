"""Wait for conditions in tests; pytest's timeout is the limit."""

import asyncio
import time
from collections.abc import Callable, Iterator

from arena.system import process_info


def wait_until(condition: Callable[[], object]) -> None:
    delays = _delays()
    while not condition():
        time.sleep(next(delays))


async def wait_until_async(condition: Callable[[], object]) -> None:
    """Wait until the condition holds, while other tasks run."""
    delays = _delays()
    while not condition():
        await asyncio.sleep(next(delays))


def has_exited(pid: int) -> bool:
    """Return whether a process has exited; it may remain a zombie of its parent."""
    return process_info.has_ended(pid) or not process_info.start_time(pid)


def _delays() -> Iterator[float]:
    """Yield the seconds between two polls: a long wait polls rarely, which saves CPU."""
    seconds = 0.002
    while True:
        yield seconds
        seconds = min(1.3 * seconds, 0.05)
