"""Plays any game by always taking the most harmless action."""

from pokearena_bot import run

run(lambda turn: turn.legal[0])
