"""Encode Saint Poker for reinforcement learning."""

from collections.abc import Sequence
from itertools import combinations

from arena.presentation.encoding import Encoding, Groups, Numbers, Vector, alone, places
from referee.games.contract import Action
from referee.games.saint_poker.actions import River, SaintPokerView, Show
from referee.games.saint_poker.state import FUTURE, ROUNDS
from referee.games.shared.cards import Card, in_order

HAND = 10
RIVER = 5
PHASES = ("river", "show", "pick_up", "over")
PAIRS = {pair: number for number, pair in enumerate(combinations(range(HAND), 2))}
POINTS = ROUNDS * (ROUNDS + 1) // 2


class SaintPokerEncoding(Encoding):
    """Encodes an action as a position or a pair of positions.

    In order: the positions of the hand, for the river; the pairs of positions, to show; the
    positions of the cards on the table in canonical order, to pick up.
    """

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        self.lying = RIVER + 2 * seats
        self.size = HAND + len(PAIRS) + self.lying

    def groups(self, view: SaintPokerView, actions: Sequence[Action]) -> Groups:
        lying = _lying(view)
        return alone({_number(action, view.hand, lying): action for action in actions})

    def observe(self, view: SaintPokerView, seat: int, groups: Groups) -> Numbers:
        vector, eyes = Vector(), self.from_here(seat)
        vector.one_of(view.round - 1, ROUNDS)
        vector.word(view.phase, PHASES)
        vector.places(view.hand, HAND)
        vector.places(view.river, RIVER)
        vector.places(view.future, FUTURE[self.seats])
        vector.places(_lying(view) if view.phase == "pick_up" else (), self.lying)
        vector.cards(card for done in view.rounds for card in done.discards)
        for who in eyes:
            vector.numbers(view.scores[who] / POINTS, view.hand_sizes[who] / HAND)
            vector.cards(view.known[who].cards)
            vector.places(view.shown[who].cards if view.shown else (), 2)
            vector.numbers((view.order.index(who) + 1) / self.seats if view.order else 0)
            vector.numbers(sum(picked.seat == who for picked in view.picked) / 2)
        return vector.done()


def _lying(view: SaintPokerView) -> tuple[Card, ...]:
    """Return the cards on the table that have not been picked up."""
    gone = {picked.card for picked in view.picked}
    table = (*view.river, *(card for pair in view.shown for card in pair.cards))
    return in_order(card for card in table if card not in gone)


def _number(action: Action, hand: Sequence[str], lying: Sequence[str]) -> int:
    match action:
        case River(card):
            return hand.index(card)
        case Show(cards):
            first, second = places(cards, hand)
            return HAND + PAIRS[first, second]
    return HAND + len(PAIRS) + lying.index(action.card)
