"""How bots are locked in: the levels, which of them this machine offers, and what a bot needs."""

from arena.bots.sandbox.level import Level
from arena.bots.sandbox.offer import best

__all__ = ["Level", "best"]
