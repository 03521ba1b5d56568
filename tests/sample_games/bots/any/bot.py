"""Bids a random card."""

import random

from pokearena_bot import run

run(lambda turn: random.choice(turn.legal))
