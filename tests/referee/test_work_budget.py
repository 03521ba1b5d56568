"""Honest bots stay far below the work budget in all games and with many games at a time."""

import asyncio
import math

import pytest
from pokearena.v1 import referee_pb2

from arena.bots import resolver
from arena.bots.processes import Processes
from arena.bots.sandbox.level import Level
from bench.processes import started
from referee.games.shared.dealing import board_seed
from referee.rpc.work_budget import LARGEST, PER_QUESTION, START, BudgetExceeded, WorkBudget
from referee.service import RefereeService
from referee.tables import stall_detector
from referee.tables.table import RunningTable
from referee.tables.table_stream import TableStream

SHARE = 0.2
FORMS = [("poke", 2), ("pokex", 4), ("pouku", 3), ("saint_poker", 5), ("pokino", 2)]


async def budget_shares(game: str, addresses: list[str], boards: int) -> tuple[float, ...]:
    """Play a table and return the share of its budget that the bot of each seat has used."""
    order = referee_pb2.Table(
        match="m-0123456789",
        game=game,
        seats=[referee_pb2.Seat(address=address, bank_ms=60_000) for address in addresses],
        boards=[
            referee_pb2.Board(game=number, number=number, seed=board_seed(bytes(32), number))
            for number in range(boards)
        ],
        start_ms=60_000,
        allowance_ms=60_000,
    )
    # These tests measure cost; on a busy machine this process may be stopped for a while.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stall_detector, "STILL_SECONDS", math.inf)
        return await _play(order)


async def _play(order: referee_pb2.Table) -> tuple[float, ...]:
    caller = TableStream()
    table = RunningTable(order, RefereeService()._setting(order), caller)
    await table.run()
    return table.budget_shares


@pytest.mark.parametrize(
    ("game", "seats"),
    [
        pytest.param(*form, marks=[pytest.mark.long] * (number > 0))
        for number, form in enumerate(FORMS)
    ],
)
def test_house_bots_use_a_small_share_of_the_budget(game: str, seats: int) -> None:
    with Processes(level=Level.UNSANDBOXED) as processes:
        bot = resolver.sample("random")
        addresses = [processes.start(seat, bot) for seat in range(seats)]
        shares = asyncio.run(budget_shares(game, addresses, boards=2))
    assert all(0 < share < SHARE for share in shares)


@pytest.mark.long
@pytest.mark.parametrize(
    ("boards", "command"),
    [
        (8, ("act",)),
        pytest.param(32, ("play", "32"), marks=pytest.mark.repetition),
        (128, ("play", "128")),
    ],
)
def test_bots_with_many_games_in_flight_use_a_small_share(
    boards: int, command: tuple[str, ...]
) -> None:
    bot = ["bot.py", *command]
    with started(bot, bot) as addresses:
        shares = asyncio.run(budget_shares("poke", addresses, boards=boards))
    assert all(0 < share < SHARE for share in shares)


def test_the_budget_grows_with_questions_up_to_a_bound_and_never_comes_back() -> None:
    budget = WorkBudget()
    budget.grant(1)
    assert budget.left == START + PER_QUESTION
    budget.grant(1_000_000)
    assert budget.left == LARGEST
    with pytest.raises(BudgetExceeded):
        budget.charge("PING frames", LARGEST + 1)
    budget.grant(1_000_000)
    assert budget.exceeded
    with pytest.raises(BudgetExceeded):
        budget.charge("PING frames", 1)


def test_measured_time_far_above_the_cost_is_an_overrun_unless_the_cost_confirms_it() -> None:
    budget = WorkBudget()
    budget.charge("messages", 10_000)
    budget.measured = 0.4
    assert not budget.overrun
    budget.measured = 0.6
    assert budget.overrun
    with pytest.raises(BudgetExceeded):
        budget.charge("messages", LARGEST)
    assert not budget.overrun
