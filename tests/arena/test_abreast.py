"""Work that is done side by side comes out as if it were not."""

import os
from collections.abc import Iterator

import pytest

from arena import abreast
from arena.services import cores


def square(number: int) -> int:
    return number * number


def where(_: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_results_come_in_the_order_of_the_tasks(patience: float) -> None:
    found = abreast.each(square, iter(range(40)), 40, patience)
    assert list(found) == [number * number for number in range(40)]


def test_little_work_is_done_here() -> None:
    assert set(abreast.each(where, range(7), 7, 0.0)) == {os.getpid()}
    assert set(abreast.each(where, range(40), 40, 60.0)) == {os.getpid()}


@pytest.mark.skipif(cores() < 2, reason="there is one core only")
def test_much_work_is_done_elsewhere_and_no_task_is_taken_long_before_its_turn() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(400):
            taken.append(number)
            yield number

    found = abreast.each(where, tasks(), 400, 0.0)
    assert next(found) != os.getpid()
    assert len(taken) < 20 * cores()
    assert os.getpid() not in list(found)


def test_no_tasks_give_no_results() -> None:
    assert list(abreast.each(square, (), 0)) == []
