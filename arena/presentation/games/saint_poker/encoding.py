"""Encode Saint Poker for reinforcement learning."""

from functools import partial
from itertools import combinations

from arena.presentation.encoding import (
    Buffer,
    Choices,
    DirectChoices,
    Encoding,
    write_places,
    write_set,
)
from referee.games.contract import Action, Legal
from referee.games.saint_poker.actions import PickUp, River, SaintPokerView, Show
from referee.games.saint_poker.state import FUTURE, ROUNDS
from referee.games.shared.cards import Hand, in_order

HAND = 10
RIVER = 5
PHASES = {"river": 0, "show": 1, "pick_up": 2, "over": 3}
PAIRS = tuple(combinations(range(HAND), 2))
SHOWS = {
    size: tuple(HAND + n for n, pair in enumerate(PAIRS) if pair[1] < size)
    for size in range(HAND + 1)
}
"""The numbers of the pairs of positions, by the size of the hand."""
PICK_UPS = HAND + len(PAIRS)
POINTS = ROUNDS * (ROUNDS + 1) // 2


class SaintPokerEncoding(Encoding):
    """Encodes an action as a position or a pair of positions.

    In order: the positions of the hand, for the river; the pairs of positions, to show; the
    positions of the cards on the table in canonical order, to pick up.
    """

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        self.lying = RIVER + 2 * seats
        self.size = PICK_UPS + self.lying
        layout = self.layout
        self._round = layout.one_of("round", "the round", [str(n + 1) for n in range(ROUNDS)])
        self._phase = layout.one_of("phase", "the phase", tuple(PHASES))
        self._hand = layout.places("hand", "the hand", HAND)
        self._river = layout.places("river", "the river", RIVER)
        self._future = layout.places("future", "the future river", FUTURE[seats])
        self._table = layout.places("table", "cards that can be picked up", self.lying)
        self._discards = layout.card_set("discards", "cards that left the game in earlier rounds")
        with layout.repeated("seat", seats):
            self._score = layout.ratio("score", "points", POINTS)
            self._size = layout.ratio("hand_size", "cards in the hand", HAND)
            self._known = layout.card_set("known", "cards of the hand that were picked up")
            self._shown = layout.places("shown", "the cards shown", 2)
            self._place = layout.ratio("place", "place of the hand shown, 0 before", seats)
            self._picked = layout.ratio("picked", "cards picked up in this round", 2)
        self._stride = layout.stride(self._known)

    def choices(self, view: SaintPokerView, legal: Legal) -> Choices:
        hand = view.hand
        if view.phase == "river":
            return DirectChoices(range(len(hand)), partial(_river, hand))
        if view.phase == "show":
            return DirectChoices(SHOWS[len(hand)], partial(_show, hand))
        lying = _lying(view)
        return DirectChoices(range(PICK_UPS, PICK_UPS + len(lying)), partial(_pick_up, lying))

    def write(self, buffer: Buffer, view: SaintPokerView, seat: int, choices: Choices) -> None:
        buffer[self._round + view.round - 1] = 1
        buffer[self._phase + PHASES[view.phase]] = 1
        write_places(buffer, self._hand, view.hand)
        write_places(buffer, self._river, view.river)
        write_places(buffer, self._future, view.future)
        if view.phase == "pick_up":
            write_places(buffer, self._table, _lying(view))
        for done in view.rounds:
            write_set(buffer, self._discards, done.discards)
        for step, who in enumerate(self.from_here(seat)):
            shift = self._stride * step
            buffer[self._score.start + shift] = view.scores[who] / self._score.scale
            buffer[self._size.start + shift] = view.hand_sizes[who] / self._size.scale
            write_set(buffer, self._known + shift, view.known[who].cards)
            if view.shown:
                write_places(buffer, self._shown + shift, view.shown[who].cards)
            if view.order:
                place = (view.order.index(who) + 1) / self._place.scale
                buffer[self._place.start + shift] = place
            if view.picked:
                picked = sum([picked.seat == who for picked in view.picked])
                buffer[self._picked.start + shift] = picked / self._picked.scale


def _lying(view: SaintPokerView) -> Hand:
    """Return the cards on the table that have not been picked up."""
    gone = {picked.card for picked in view.picked}
    table = (*view.river, *(card for pair in view.shown for card in pair.cards))
    return in_order(card for card in table if card not in gone)


def _river(hand: Hand, number: int) -> Action:
    return River(hand[number])


def _show(hand: Hand, number: int) -> Action:
    first, second = PAIRS[number - HAND]
    return Show((hand[first], hand[second]))


def _pick_up(lying: Hand, number: int) -> Action:
    return PickUp(lying[number - PICK_UPS])
