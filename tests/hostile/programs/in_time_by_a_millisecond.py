"""Answers when one millisecond of its time is left, but for what the way takes."""

import time

from honest import play

WAY = 0.004
"""Seconds for the way of question and answer."""


def act(turn: object) -> None:
    clock = turn.clock  # type: ignore[attr-defined]
    until = time.monotonic() + (clock.allowance_ms + clock.bank_ms - 1) / 1000 - WAY
    while time.monotonic() < until:
        time.sleep(max(0.0, until - time.monotonic() - 0.001))


play(act)
