"""A failure of the arena does not restore a time bank."""

import signal

import pytest

from arena.store.match_settings import Clock
from tests.faults import processes
from tests.faults.conftest import Conclude
from tests.faults.fault_arena import Arena
from tests.faults.witness import Witness

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

BANK_MS = 3000
ALLOWANCE_MS = 100
NAP = 0.25
"""Seconds: every decision takes 150 ms from the bank."""


def test_the_next_attempt_starts_with_the_rest_of_the_bank(
    arena: Arena, conclude: Conclude
) -> None:
    clock = Clock(start_ms=60_000, allowance_ms=ALLOWANCE_MS, bank_ms=BANK_MS)
    arena.schedule([arena.slow("first", NAP), arena.slow("last", NAP, -1)], boards=3, clock=clock)
    with Witness(arena) as witness, arena.serving(1) as serve:
        for games in (1, 4):
            serve.until(lambda games=games: len(arena.sql("SELECT 1 FROM games")) >= games)  # type: ignore[misc]
            witness.blow()
            processes.send(serve.one("horse"), signal.SIGKILL)
        serve.until(arena.over)
    tally = conclude(arena, witness, "banks over three attempts")
    assert tally.closed == 1
    drawn = arena.sql(
        "SELECT table_number, sum(json_extract(tally, '$.bank_ms[0]')),"
        " sum(json_extract(tally, '$.bank_ms[1]')) FROM games GROUP BY table_number"
    )
    assert len(drawn) == 2
    for _, *seats in drawn:
        for ms in seats:
            # The seat drew from its bank, and no attempt began with a full bank again.
            assert BANK_MS / 2 < ms <= BANK_MS + 1
