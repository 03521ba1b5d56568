"""My bot. Edit choose(); `pokearena play poke . sample:random --watch` shows it playing."""

import random

from pokearena_bot import Move, Turn, run


def choose(turn: Turn) -> Move:
    """Answer one question: return one of turn.legal, the most harmless first."""
    if turn.view.WhichOneof("game") == "poke":
        view = turn.view.poke
        if view.phase == "draw" and len({card[0] for card in view.hand}) < 5:
            return turn.legal[0], "a pair is good enough: stand"
    return random.choice(turn.legal)


run(choose)
