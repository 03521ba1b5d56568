"""Pokino: lays dominoes to collect beads, and plays long runs."""

from pokearena_bot import PokinoAction, PokinoChoice, PokinoTurn

NUMBERS = "KA23456789TJQ"
"""The ranks by the number that a card matches (K-5.2)."""
LONG = 5
"""A run of at least this many cards is worth its beads at any time."""


def choose(turn: PokinoTurn) -> PokinoChoice:
    """Return the best action."""
    return max(turn.legal, key=lambda action: worth(action, turn))


def worth(action: PokinoChoice, turn: PokinoTurn) -> int:
    """Rate an action; 0 is to pass."""
    hand = turn.pokino.hand
    match action:
        case PokinoAction.Run(cards=cards):
            if len(cards) == len(hand):
                return 1000  # Playing the last card wins, regardless of points (K-6.1).
            return 100 * len(cards) if len(cards) >= LONG else -1
        case PokinoAction.Domino(domino=domino):  # It brings a bead (K-4.3).
            held = {NUMBERS.index(card[0]) for card in hand}
            return 1 + sum(int(number) in held for number in domino.split("-"))
    return 0
