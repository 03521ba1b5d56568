"""Bid the card that is worth as much as the prizes."""

import json

from pokearena_bot import Move, Turn, run

RANKS = "23456789TJQKA"


def choose(turn: Turn) -> Move:
    """Return the bid whose rank is nearest to that of the prizes."""
    view = json.loads(turn.view.generic.json)
    worth = sum(2 + RANKS.index(prize[0]) for prize in view["prizes"])
    bids = [json.loads(action.generic.json)["bid"]["card"] for action in turn.legal]
    distances = [abs(2 + RANKS.index(card[0]) - worth) for card in bids]
    return turn.legal[distances.index(min(distances))]


run(choose)
