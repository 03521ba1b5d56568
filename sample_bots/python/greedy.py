"""A bot for Poke that rates every legal action and chooses the best."""

import random
from collections import Counter

from pokearena.v1.bot_pb2 import Action
from pokearena.v1.poke_pb2 import PokeView
from pokearena_bot import Move, Turn, run


def choose(turn: Turn) -> Move:
    """Return the best action; chance decides between equal ones."""
    view = turn.view.poke
    return max(turn.legal, key=lambda action: (worth(action, view, turn.seat), random.random()))


def worth(action: Action, view: PokeView, seat: int) -> int:
    """Rate an action of the seat that sees this view; 0 is to do nothing."""
    held = Counter(card[0] for card in view.hand)
    move = action.poke
    kind = move.WhichOneof("action")
    if kind == "draw":  # The dealer's first draw is free; another one doubles the price of a trick.
        is_free = view.dealer == seat and all(drawn.seat != seat for drawn in view.drawn)
        loose = all(held[card[0]] == 1 for card in move.draw.discards)
        return sum(QUEEN - rank(card) for card in move.draw.discards) if is_free and loose else -1
    if kind == "lead":  # Groups and high cards are hard to beat.
        return 20 * len(move.lead.cards) + rank(move.lead.cards[0])
    if kind == "answer":  # The cheapest winning cards, otherwise the cheapest cards.
        cards = move.answer.cards
        price = sum(rank(card) + 20 * (held[card[0]] - 1) for card in cards)
        wins = len({card[0] for card in cards}) == 1 and rank(cards[0]) > rank(view.lead[0])
        return 1000 * wins - price
    return 0


def rank(card: str) -> int:
    """Return 0 for a two to 12 for an ace."""
    return "23456789TJQKA".index(card[0])


QUEEN = rank("Q")

run(choose)
