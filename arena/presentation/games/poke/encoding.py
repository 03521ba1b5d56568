"""Encode Poke for reinforcement learning."""

from collections.abc import Sequence

from arena.presentation.encoding import (
    Encoding,
    Groups,
    Numbers,
    Vector,
    alone,
    places,
    squashed,
)
from referee.games.contract import Action
from referee.games.poke.actions import Answer, Draw, Lead, PokeView

HAND = 5
LEAD = 4
PHASES = ("draw", "lead", "answer", "over")
DRAWS = 3
"""Maximum number of a seat's draws in a deal that are encoded."""


class PokeEncoding(Encoding):
    """Encodes an action as a set of positions in the hand.

    Position p has the value 2 to the p; 0 is to stand. The phase determines the use of the cards:
    they are discarded, led, or answer a lead.
    """

    size = 1 << HAND

    def groups(self, view: PokeView, actions: Sequence[Action]) -> Groups:
        return alone({_number(action, view.hand): action for action in actions})

    def observe(self, view: PokeView, seat: int, groups: Groups) -> Numbers:
        vector, eyes = Vector(), self.from_here(seat)
        vector.word(view.phase, PHASES)
        vector.numbers(view.dealer == seat, view.must_beat, squashed(view.deal, 10))
        vector.places(view.hand, HAND)
        vector.places(view.lead, LEAD)
        vector.cards(view.discards)
        for who in eyes:
            vector.numbers(view.multipliers[who] / 4, view.legs[who] / 2)
            vector.numbers(squashed(view.below[who], 20), squashed(view.above[who], 500))
            drawn = [1 + draw.cards for draw in view.drawn if draw.seat == who]
            vector.numbers(*(n / 4 for n in (drawn + [0] * DRAWS)[:DRAWS]))
            led = [trick.lead if trick.leader == who else trick.answer for trick in view.tricks]
            vector.cards(card for cards in led for card in cards)
            taken = sum(len(trick.lead) for trick in view.tricks if trick.winner == who)
            vector.numbers(taken / HAND)
        return vector.done()


def _number(action: Action, hand: Sequence[str]) -> int:
    match action:
        case Draw(cards) | Lead(cards) | Answer(cards):
            return sum(1 << place for place in places(cards, hand))
    return 0
