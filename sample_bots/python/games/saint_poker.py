"""Saint Poker: collects groups of equal rank and shows them when a round is worth more."""

from collections import Counter

from pokearena_bot import SaintPokerAction, SaintPokerChoice, SaintPokerTurn


def choose(turn: SaintPokerTurn) -> SaintPokerChoice:
    """Return the best action."""
    return max(turn.legal, key=lambda action: worth(action, turn))


def worth(action: SaintPokerChoice, turn: SaintPokerTurn) -> int:
    """Rate an action by the groups it makes or keeps."""
    view = turn.saint_poker
    held = Counter(rank(card) for card in view.hand)
    match action:
        case SaintPokerAction.River(card=card):  # Keep groups and high cards in the hand.
            return -20 * held[rank(card)] - rank(card)
        case SaintPokerAction.Show(cards=cards):  # The two cards count with the river (S-3.1).
            table = Counter(rank(card) for card in [*view.river, *cards])
            groups = sum(100 * count * count for count in table.values() if count > 1)
            return groups + sum(rank(card) for card in cards)
        case SaintPokerAction.PickUp(card=card):
            return 20 * held[rank(card)] + rank(card)


def rank(card: str) -> int:
    """Return 0 for a two to 12 for an ace."""
    return "23456789TJQKA".index(card[0])
