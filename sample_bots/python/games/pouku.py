"""Pouku: goes out as soon as it is legal, and keeps cards that match the reference fields."""

from collections import Counter

from pokearena_bot import PoukuAction, PoukuChoice, PoukuTurn


def choose(turn: PoukuTurn) -> PoukuChoice:
    """Return the best action."""
    return max(turn.legal, key=lambda action: worth(action, turn))


def worth(action: PoukuChoice, turn: PoukuTurn) -> int:
    """Rate an action; cards of the point card's rank count by themselves (U-2.3)."""
    view = turn.pouku
    match action:
        case PoukuAction.GoOut():
            return 1000
        case PoukuAction.Discard(card=card, keep=keep) | PoukuAction.Give(card=card, keep=keep):
            fields = [view.fields[seat].cards for seat in view.reference]
            useful = Counter(other[0] for cards in [view.hand, *fields] for other in cards)
            points = view.point * (card[0] == view.point_card[0])
            return -useful[card[0]] - 2 * points - 100 * len(keep)
