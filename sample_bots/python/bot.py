"""My bot. Edit choose(). To watch it: `pokearena play poke . sample:random --watch`"""

import random

from pokearena_bot import Move, Turn, run


def choose(turn: Turn) -> Move:
    """Answer one question with one of turn.legal, the least risky first."""
    return random.choice(turn.legal)


run(choose)
