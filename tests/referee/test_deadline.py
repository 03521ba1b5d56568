"""The time limit of a wait, with excused time and holds."""

import asyncio

import pytest

from referee.tables.deadline import Deadline

SOON, NEVER = 0.02, 60.0
NOTHING = (0.0, 0.0)


async def wait_with_hold(hold: float, later: float | None = None) -> None:
    """Wait for ever with a hold, and with another one after the time limit."""
    deadline, loop = Deadline(), asyncio.get_running_loop()
    with deadline.set(SOON):
        deadline.excuse(NOTHING, hold)
        if later is not None:
            loop.call_later(2 * SOON, deadline.excuse, NOTHING, later)
        await asyncio.sleep(NEVER)


@pytest.mark.parametrize(("hold", "later"), [(0.0, None), (3 * SOON, NEVER), (NEVER, 0.0)])
def test_a_hold_ends_and_calls_after_the_limit_do_not_prolong_it(
    hold: float, later: float | None
) -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(wait_with_hold(hold, later))


def test_an_answer_after_the_limit_is_late_during_a_hold_unless_time_is_excused() -> None:
    async def answer(*, is_excused: bool) -> None:
        deadline, loop = Deadline(), asyncio.get_running_loop()
        began = loop.time()
        with deadline.set(SOON):
            deadline.excuse(NOTHING, NEVER)
            await asyncio.sleep(2 * SOON)
            if is_excused:
                deadline.excuse((began, began + NEVER), NEVER)
            deadline.check()

    asyncio.run(answer(is_excused=True))
    with pytest.raises(TimeoutError):
        asyncio.run(answer(is_excused=False))


def test_excused_time_counts_once_and_from_the_beginning_of_the_wait() -> None:
    async def excused() -> float:
        deadline, now = Deadline(), asyncio.get_running_loop().time()
        with deadline.set(NEVER):
            for interval in ((now + 4, now + 6), (now - 9, now - 5), (now - 3, now + 1)):
                deadline.excuse(interval, 0)
            deadline.excuse((now + 5, now + 7), 0)
        return deadline.excused

    assert asyncio.run(excused()) == pytest.approx(1 + 3, abs=0.5)
