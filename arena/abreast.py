"""Pure work done on all cores, side by side."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Final, TypeVar

from arena.services import cores

T = TypeVar("T")
R = TypeVar("R")

WORTH_A_PROCESS: Final = 4
"""With fewer tasks than that for each, starting processes takes longer than working them off."""
_AHEAD: Final = 8
"""So many tasks for each process are handed out before their turn."""


def each(function: Callable[[T], R], tasks: Iterable[T], number: int) -> Iterator[R]:
    """What a function makes of tasks, in their order. Tasks are taken as they are needed.

    Args:
        function: of a module; it and the tasks are handed to other processes.
        number: how many tasks there are, roughly.
    """
    processes = min(cores(), number // WORTH_A_PROCESS)
    if processes < 2:
        yield from map(function, tasks)
        return
    # Spawned, for a fork of a process that has used threads and sockets is asking for trouble.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _leave_ctrl_c_to_the_parent) as pool:
        under_way: deque[Future[R]] = deque()
        try:
            for task in tasks:
                under_way.append(pool.submit(function, task))
                if len(under_way) >= _AHEAD * processes:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
