"""A bot for Poke that gives every legal action a worth and takes the best."""

import random
from collections import Counter

from pokearena.v1.bot_pb2 import Action
from pokearena.v1.poke_pb2 import PokeView
from pokearena_bot import Move, Turn, run


def choose(turn: Turn) -> Move:
    """The action worth most; chance decides between equals."""
    view = turn.view.poke
    return max(turn.legal, key=lambda action: (worth(action, view, turn.seat), random.random()))


def worth(action: Action, view: PokeView, seat: int) -> int:
    """What an action is worth to the seat that sees this; 0 is to do nothing."""
    held = Counter(card[0] for card in view.hand)
    move = action.poke
    kind = move.WhichOneof("action")
    if kind == "draw":  # The dealer's first draw is free; another doubles the price of a trick.
        is_free = view.dealer == seat and all(drawn.seat != seat for drawn in view.drawn)
        loose = all(held[card[0]] == 1 for card in move.draw.discards)
        return sum(QUEEN - rank(card) for card in move.draw.discards) if is_free and loose else -1
    if kind == "lead":  # Several of a rank are hard to beat, and high cards are.
        return 20 * len(move.lead.cards) + rank(move.lead.cards[0])
    if kind == "answer":  # Win as cheaply as possible, or throw the cheapest away.
        cards = move.answer.cards
        price = sum(rank(card) + 20 * (held[card[0]] - 1) for card in cards)
        wins = len({card[0] for card in cards}) == 1 and rank(cards[0]) > rank(view.lead[0])
        return 1000 * wins - price
    return 0


def rank(card: str) -> int:
    """0 for a two to 12 for an ace."""
    return "23456789TJQKA".index(card[0])


QUEEN = rank("Q")

run(choose)
