"""Answers its first question one millisecond before its time is up, transmission included."""

import time
from typing import Any

from honest import play

WAY = 0.004
"""Seconds for the transmission of question and answer."""
waited: list[int] = []


def act(turn: Any) -> None:
    if waited:
        return
    waited.append(turn.decision)
    until = time.monotonic() + (turn.clock.allowance_ms + turn.clock.bank_ms - 1) / 1000 - WAY
    while time.monotonic() < until:
        time.sleep(max(0.0, until - time.monotonic() - 0.001))


play(act)
