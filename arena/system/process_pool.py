"""Pure work done on all cores, side by side."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Final, TypeVar

from arena.system.process_info import cores

T = TypeVar("T")
R = TypeVar("R")

PATIENCE: Final = 3.0
"""Seconds of work after which starting processes, which takes about as long, is worth it."""
_WORTH_A_PROCESS: Final = 4
"""With fewer tasks than that left for each, it is not."""
_AHEAD: Final = 8
"""So many tasks for each process are handed out before their turn."""


def each(
    function: Callable[[T], R], tasks: Iterable[T], number: int, patience: float = PATIENCE
) -> Iterator[R]:
    """What a function makes of tasks, in their order. Tasks are taken as they are needed.

    Args:
        function: of a module; it and the tasks are handed to other processes.
        number: how many tasks there are, roughly.
        patience: seconds in which they are worked off here, before others are asked to help.
    """
    left = iter(tasks)
    began = time.monotonic()
    done = 0
    while (processes := min(cores(), (number - done) // _WORTH_A_PROCESS)) < 2 or (
        time.monotonic() - began < patience
    ):
        for task in left:
            yield function(task)
            break
        else:
            return
        done += 1
    yield from _spread(function, left, processes)


def _spread(function: Callable[[T], R], tasks: Iterator[T], processes: int) -> Iterator[R]:
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
