"""Bids the highest card for the highest prizes."""

import json

from pokearena_bot import run


def rank(action):
    return int(json.loads(action.generic.json)["bid"]["card"][0])


def choose(turn):
    view = json.loads(turn.view.generic.json)
    worth = sum(int(prize[0]) for prize in view["prizes"])
    return min(turn.legal, key=lambda action: abs(rank(action) - worth))


run(choose)
