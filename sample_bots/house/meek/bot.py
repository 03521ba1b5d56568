"""Plays every game with the least risky action."""

from pokearena_bot import run

run(lambda turn: turn.legal[0])
