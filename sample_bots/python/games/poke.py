"""Poke: rates every legal action and chooses the best."""

import random
from collections import Counter

from pokearena_bot import PokeAction, PokeChoice, PokeTurn


def choose(turn: PokeTurn) -> PokeChoice:
    """Return the best action; chance decides between equal ones."""
    return max(turn.legal, key=lambda action: (worth(action, turn), random.random()))


def worth(action: PokeChoice, turn: PokeTurn) -> int:
    """Rate an action; 0 is to do nothing."""
    view = turn.poke
    held = Counter(card[0] for card in view.hand)
    match action:
        case PokeAction.Draw(discards=cards):
            # The dealer's first draw is free (P-2.6); another one doubles the price of a trick.
            is_free = view.dealer == turn.seat and all(d.seat != turn.seat for d in view.drawn)
            is_loose = all(held[card[0]] == 1 for card in cards)
            return sum(rank("Q") - rank(card) for card in cards) if is_free and is_loose else -1
        case PokeAction.Lead(cards=cards):  # Groups and high cards are hard to beat.
            return 20 * len(cards) + rank(cards[0])
        case PokeAction.Answer(cards=cards):  # The cheapest winning cards, or the cheapest cards.
            price = sum(rank(card) + 20 * (held[card[0]] - 1) for card in cards)
            wins = len({card[0] for card in cards}) == 1 and rank(cards[0]) > rank(view.lead[0])
            return 1000 * wins - price
    return 0


def rank(card: str) -> int:
    """Return 0 for a two to 12 for an ace."""
    return "23456789TJQKA".index(card[0])
