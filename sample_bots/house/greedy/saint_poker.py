"""Saint Poker by rules of thumb.

Round r is worth r points, so the last rounds decide the game. In early rounds the bot gets rid of
useless cards and picks up useful ones; in late rounds it plays its best hand.
"""

from itertools import combinations

import hands
from hands import BIT, RANK
from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena.v1.saint_poker_pb2 import SaintPokerView

LAST_SAVING_ROUND = 4
"""Up to this round, the bot plays its least useful cards."""
PAIR_USEFULNESS = 12.0
"""Additional value of a card for each other kept card of its rank, in ranks."""
SUIT_USEFULNESS = 1.0
"""Additional value for each other kept card of its suit."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    view = turn.view.saint_poker
    if view.phase == "river":
        card, why = river(view)
        return Action(saint_poker={"river": {"card": card}}), why
    if view.phase == "show":
        cards, why = show(view)
        return Action(saint_poker={"show": {"cards": cards}}), why
    card, why = pick_up(view, [action.saint_poker.pick_up.card for action in turn.legal])
    return Action(saint_poker={"pick_up": {"card": card}}), why


def usefulness(card: str, kept: list[str]) -> float:
    """Return the value of a card among the kept cards."""
    others = [other for other in kept if other != card]
    same_rank = sum(RANK[other] == RANK[card] for other in others)
    same_suit = sum(other[1] == card[1] for other in others)
    return RANK[card] + PAIR_USEFULNESS * same_rank + SUIT_USEFULNESS * same_suit


def best_pair(river: list[str], hand: list[str]) -> tuple[int, tuple[str, ...]]:
    """Return the strongest hand of two of these cards with the river, and the two cards."""
    table = hands.bits(river)
    return max(
        (hands.strength(table | BIT[first] | BIT[second]), (first, second))
        for first, second in combinations(hand, 2)
    )


def river(view: SaintPokerView) -> tuple[str, str]:
    """Choose the card for the river, which all seats use."""
    hand = list(view.hand)
    if view.round <= LAST_SAVING_ROUND:
        return min(hand, key=lambda card: usefulness(card, hand)), "needed least"

    def remaining_strength(card: str) -> tuple[int, float]:
        """Return the strength of the best pair that remains; among equal ones, the useless card."""
        rest = [other for other in hand if other != card]
        return best_pair([*view.river, card], rest)[0], -usefulness(card, hand)

    return max(hand, key=remaining_strength), "leaves the best hand"


def show(view: SaintPokerView) -> tuple[list[str], str]:
    """Choose the two cards to show."""
    hand = list(view.hand)
    strength, best = best_pair(list(view.river), hand)
    if view.round > LAST_SAVING_ROUND:
        return list(best), "the best hand there is"
    category = hands.category(strength)
    river_category = hands.category(hands.strength(hands.bits(view.river)))
    if category > river_category and category >= hands.STRAIGHT:
        return list(best), "a made hand"
    return sorted(hand, key=lambda card: usefulness(card, hand))[:2], "saves the better cards"


def pick_up(view: SaintPokerView, lying: list[str]) -> tuple[str, str]:
    """Choose the card that fits best to the hand and to the next river."""
    hand, future = list(view.hand), list(view.future)

    def gain(card: str) -> float:
        return usefulness(card, [*hand, *future, card])

    return max(lying, key=gain), "goes best with the hand"
