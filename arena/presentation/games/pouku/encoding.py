"""Encode Pouku for reinforcement learning."""

from collections.abc import Mapping, Sequence

import numpy as np

from arena.presentation.encoding import Encoding, Groups, Numbers, Vector, squashed
from referee.games.contract import Action
from referee.games.pouku.actions import Give, GoOut, PoukuView
from referee.games.pouku.legal import LISTED
from referee.games.shared.cards import RANK, Hand

HAND = 4
NO_KEEP = 1
KEEPS = 2
DISCARDS = KEEPS + LISTED
RANKS = 13
KEEP = RANKS + HAND
"""Length of an encoded keep: the number of cards of each rank, and the seat's own card's position.
"""


class PoukuEncoding(Encoding):
    """Encodes an action in two steps.

    1. Go out (0), keep nothing (1), or make one of the listed keeps.
    2. The position in the hand of the card to discard or to give.

    Keeps are numbered by a list because too many sets of cards are possible; the observation
    contains the listed keeps.
    """

    size = DISCARDS + 2 * HAND

    def groups(self, view: PoukuView, actions: Sequence[Action]) -> Groups:
        keeps = [keep for keep in dict.fromkeys(map(_keep, actions)) if keep]
        numbers: Mapping[Hand, int] = {(): NO_KEEP, **{k: KEEPS + n for n, k in enumerate(keeps)}}
        groups: dict[int, list[Action]] = {}
        for action in actions:
            number = 0 if isinstance(action, GoOut) else numbers[action.keep]
            groups.setdefault(number, []).append(action)
        if len(groups) != 1:
            return groups
        return {_discard(action, view.hand): (action,) for action in actions}

    def observe(self, view: PoukuView, seat: int, groups: Groups) -> Numbers:
        vector, eyes = Vector(), self.from_here(seat)
        vector.places(view.hand, HAND)
        vector.places((view.drawn,), 1)
        vector.places((view.point_card,), 1)
        vector.numbers(view.may_keep, squashed(view.worth, 8), view.stock / 52)
        vector.numbers(view.deal / (2 * self.seats), squashed(len(view.turns), 10))
        for who in eyes:
            vector.numbers(view.dealer == who, view.turn == who, view.hand_sizes[who] / HAND)
            vector.numbers(squashed(view.scores[who], 20))
            vector.cards(view.fields[who].cards)
            vector.cards(view.kept[who].cards)
        listed = np.zeros((LISTED, KEEP), np.float32)
        for number, actions in groups.items():
            if KEEPS <= number < DISCARDS:
                listed[number - KEEPS] = _encoded_keep(actions[0].keep, view.hand)
        vector.array(listed)
        chosen = [a.keep for number, (a, *_) in groups.items() if number >= DISCARDS]
        vector.array(_encoded_keep(chosen[0] if chosen else (), view.hand))
        return vector.done()


def _keep(action: Action) -> Hand:
    return () if isinstance(action, GoOut) else action.keep


def _discard(action: Action, hand: Hand) -> int:
    return DISCARDS + hand.index(action.card) + HAND * isinstance(action, Give)


def _encoded_keep(keep: Hand, hand: Hand) -> Numbers:
    row = np.zeros(KEEP, np.float32)
    for card in keep:
        row[RANK[card] - 2] += 1 / 4
        if card in hand:
            row[RANKS + hand.index(card)] = 1
    return row
