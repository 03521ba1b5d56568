"""Poke by rules of thumb.

The score above the line decides: the better poker hand (a pair 50, a flush 400), and the rubber,
which the tricks decide. A draw after the free one doubles the price of the opponent's tricks, so
the bot pays for it only with a hand that has nothing to lose.
"""

import hands
from hands import RANK
from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena.v1.poke_pb2 import PokeView

CardsAndReason = tuple[list[str], str]
"""Cards, and a short reason; without cards: stand."""

HOPELESS_RANK = 7
"""A hand without a pair pays for a draw if its second highest card is below a nine (rank 7)."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    view = turn.view.poke
    if view.phase == "draw":
        cards, why = draw(view, turn.seat)
        if not cards:
            return Action(poke={"stand": {}}), why
        return Action(poke={"draw": {"discards": cards}}), why
    if view.phase == "lead":
        cards, why = lead(view)
        return Action(poke={"lead": {"cards": cards}}), why
    cards, why = answer(view)
    return Action(poke={"answer": {"cards": cards}}), why


def draw(view: PokeView, seat: int) -> CardsAndReason:
    """Return the cards to discard."""
    category = hands.category(hands.strength(hands.bits(view.hand)))
    if category >= hands.STRAIGHT:
        return [], "a made hand stands"
    is_free = view.dealer == seat and all(drawn.seat != seat for drawn in view.drawn)
    groups = hands.groups(view.hand)
    single_cards = [cards[0] for cards in groups.values() if len(cards) == 1]  # the lowest first
    if is_free:
        if category == hands.HIGH_CARD:
            misfit = hands.flush_misfit(view.hand) or hands.straight_misfit(view.hand)
            if misfit:
                return [misfit], "draws to a flush or straight, for nothing"
        return single_cards[:3], "draws what is free"
    if category == hands.HIGH_CARD and RANK[single_cards[3]] < HOPELESS_RANK:
        return single_cards[:3], "has nothing to lose"
    return [], "a draw would double the price"


def lead(view: PokeView) -> CardsAndReason:
    """Lead groups first, which are hard to beat, then the second best card, to regain the lead."""
    groups = list(hands.groups(view.hand).values())[::-1]
    if len(groups) == 1:
        return groups[0], "all that is left"
    largest = max(groups if len(view.hand) < 5 else groups[1:], key=len)
    if len(largest) > 1:
        return largest, "a group is hard to beat"
    return groups[1], "keeps the best to come in again"


def answer(view: PokeView) -> CardsAndReason:
    """Win as cheaply as possible; otherwise play the least useful cards."""
    size, led = len(view.lead), RANK[view.lead[0]]
    groups = hands.groups(view.hand)
    winners = [c for rank, c in groups.items() if rank > led and len(c) >= size]
    if winners:
        return min(winners, key=len)[:size], "wins as cheaply as it can"
    by_need = sorted(groups.values(), key=lambda cards: len(cards) > 1)
    return [card for cards in by_need for card in cards][:size], "throws what it needs least"
