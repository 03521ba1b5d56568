"""Run pure functions on all cores with a process pool."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Final, TypeVar

from arena.system import parent_death_signal
from arena.system.process_info import cores

T = TypeVar("T")
R = TypeVar("R")

PATIENCE: Final = 3.0
"""Seconds of work that justify a pool: starting its processes takes about as long."""
_WORTH_A_PROCESS: Final = 4
"""Minimum number of remaining tasks per process that justifies a pool."""
_AHEAD: Final = 8
"""Number of tasks per process that are submitted ahead."""


def map_ordered(
    function: Callable[[T], R], tasks: Iterable[T], number: int, patience: float = PATIENCE
) -> Iterator[R]:
    """Yield the results of a function for tasks, in their order; tasks are consumed lazily.

    Args:
        function: a function of a module; function and tasks must be picklable.
        tasks: the arguments of the function, one per call.
        number: approximate number of tasks.
        patience: seconds of work in this process before a pool is started.
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
    # Spawned: forking a process that has used threads and sockets is unsafe.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, follow_parent, (os.getpid(),)) as pool:
        under_way: deque[Future[R]] = deque()
        try:
            for task in tasks:
                under_way.append(pool.submit(function, task))
                if len(under_way) >= _AHEAD * processes:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            # Wait: if the pool's thread still runs when Python exits, both close its pipe, and
            # Python prints a traceback ("Bad file descriptor"). A second shutdown does not wait.
            pool.shutdown(wait=True, cancel_futures=True)


def follow_parent(parent: int) -> None:
    """Prepare a process of a pool: it ignores Ctrl-C, and ends with the process `parent`.

    The pool of a killed process waits for tasks forever: each of its processes holds the pipe open.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent_death_signal.die_with_parent(parent)
