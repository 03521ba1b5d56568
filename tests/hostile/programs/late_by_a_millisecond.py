"""Answers one millisecond after its time is up."""

import time

from honest import play


def act(turn: object) -> None:
    clock = turn.clock  # type: ignore[attr-defined]
    time.sleep((clock.allowance_ms + clock.bank_ms + 1) / 1000)


play(act)
