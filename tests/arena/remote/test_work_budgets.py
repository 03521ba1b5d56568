"""The budgets for the work that remote bots cause in the relay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.remote.relay import work_budgets
from arena.remote.relay.work_budgets import WorkBudgets


@pytest.mark.parametrize("in_flight", [1, 32, 128])
def test_honest_answers_cost_at_most_a_fifth_of_the_budget_of_their_questions(
    in_flight: int,
) -> None:
    question_bytes, answer_bytes = 100 * in_flight, 60
    granted = work_budgets.PER_QUESTION_MESSAGE + work_budgets.PER_QUESTION_BYTE * question_bytes
    assert in_flight * work_budgets.cost_of(answer_bytes) <= 0.21 * granted


def test_a_spent_budget_refuses_connections_until_it_is_refilled() -> None:
    budgets = WorkBudgets()
    assert budgets.charge("a", work_budgets.START, 0.0)
    assert not budgets.charge("a", 1.0, 0.0)
    wait = budgets.wait("a", 0.0)
    assert wait > 0
    assert budgets.wait("a", float(wait)) == 0
    assert budgets.charge("a", work_budgets.CONNECTION, float(wait))


def test_every_owner_has_a_separate_budget() -> None:
    budgets = WorkBudgets()
    assert not budgets.charge("a", 2 * work_budgets.START, 0.0)
    assert budgets.charge("b", work_budgets.START, 0.0)


@given(st.lists(st.tuples(st.sampled_from("cgw"), st.floats(0, 1e6)), max_size=50))
def test_budgets_are_capped(steps: list[tuple[str, float]]) -> None:
    budgets, now = WorkBudgets(), 0.0
    for step, amount in steps:
        if step == "c":
            budgets.charge("a", amount, now)
        elif step == "g":
            budgets.grant("a", int(amount), now)
        else:
            now += amount
    assert not budgets.charge("a", work_budgets.MAX_UNITS + 1, now)
