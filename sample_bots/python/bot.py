"""My bot. Edit choose(); `pokearena play poke . sample:random --watch` shows it playing."""

import random

from pokearena_bot import Move, Turn, run


def choose(turn: Turn) -> Move:
    """Answer one question: return one of turn.legal, the most harmless first."""
    return random.choice(turn.legal)


run(choose)
