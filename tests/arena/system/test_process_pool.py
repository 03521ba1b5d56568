"""Test that parallel tasks return the same results as sequential ones."""

import os
import threading
from collections.abc import Iterator

import pytest

from arena.system import process_pool
from arena.system.process_info import cores


def task_and_process(number: int) -> tuple[int, int]:
    return number, os.getpid()


def test_few_tasks_run_in_the_calling_process() -> None:
    cwd = os.getpid()
    assert list(process_pool.map_ordered(task_and_process, range(7), 7, 0.0)) == [
        (number, cwd) for number in range(7)
    ]
    quick = process_pool.map_ordered(task_and_process, range(40), 40, 60.0)
    assert list(quick) == [(number, cwd) for number in range(40)]


@pytest.mark.skipif(cores() < 2, reason="there is one core only")
def test_many_tasks_run_in_other_processes_with_bounded_lookahead() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(400):
            taken.append(number)
            yield number

    threads = threading.active_count()
    results = process_pool.map_ordered(task_and_process, tasks(), 400, 0.0)
    first = next(results)
    assert len(taken) < 20 * cores()
    every = [first, *results]
    assert [number for number, _ in every] == list(range(400))
    assert os.getpid() not in {process for _, process in every}
    assert threading.active_count() == threads, "the pool's thread has ended"


def test_no_tasks_give_no_results() -> None:
    assert list(process_pool.map_ordered(task_and_process, (), 0)) == []
