"""Encode Saint Poker for reinforcement learning."""

from array import array
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
from referee.games.saint_poker.actions import PickUp, River, SaintPokerRound, SaintPokerView, Show
from referee.games.saint_poker.state import FUTURE, ROUNDS
from referee.games.shared.cards import DECK, Hand, in_order

HAND = 10
RIVER = 5
PICKS = 2
"""Number of cards that each seat picks up in a round."""
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
            self._picked = layout.ratio("picked", "cards picked up in this round", PICKS)
        stride = layout.stride(self._known)
        self._shifts = tuple(
            tuple(stride * ((who - seat) % seats) for who in range(seats)) for seat in range(seats)
        )
        """By observing seat: the distance from its fields to those of each seat."""
        self._last_table: tuple[SaintPokerView | None, Hand] = (None, ())
        self._last_discards: tuple[tuple[SaintPokerRound, ...], Buffer] = ((), array("f"))

    def choices(self, view: SaintPokerView, legal: Legal) -> Choices:
        hand = view.hand
        if view.phase == "river":
            return DirectChoices(range(len(hand)), partial(_river, hand))
        if view.phase == "show":
            return DirectChoices(SHOWS[len(hand)], partial(_show, hand))
        lying = self._lying(view)
        return DirectChoices(range(PICK_UPS, PICK_UPS + len(lying)), partial(_pick_up, lying))

    def write(self, buffer: Buffer, view: SaintPokerView, seat: int, choices: Choices) -> None:
        buffer[self._round + view.round - 1] = 1
        buffer[self._phase + PHASES[view.phase]] = 1
        write_places(buffer, self._hand, view.hand)
        write_places(buffer, self._river, view.river)
        write_places(buffer, self._future, view.future)
        if view.phase == "pick_up":
            write_places(buffer, self._table, self._lying(view))
        if view.rounds:
            buffer[self._discards : self._discards + len(DECK)] = self._discards_of(view.rounds)
        self._write_seats(buffer, view, seat)

    def _write_seats(self, buffer: Buffer, view: SaintPokerView, seat: int) -> None:
        shifts = self._shifts[seat]
        score, size, known = self._score.start, self._size.start, self._known
        for who, shift in enumerate(shifts):
            buffer[score + shift] = view.scores[who] / POINTS
            buffer[size + shift] = view.hand_sizes[who] / HAND
            write_set(buffer, known + shift, view.known[who].cards)
        if view.shown:
            for group, shift in zip(view.shown, shifts, strict=True):
                write_places(buffer, self._shown + shift, group.cards)
            place, picked = self._place.start, self._picked.start
            for number, who in enumerate(view.order, 1):
                buffer[place + shifts[who]] = number / self.seats
            for pick in view.picked:
                buffer[picked + shifts[pick.seat]] += 1 / PICKS

    def _lying(self, view: SaintPokerView) -> Hand:
        """Return the cards on the table that have not been picked up, in canonical order.

        The choices and the observation of a decision have the same view.
        """
        last, lying = self._last_table
        if view is not last:
            table = [*view.river, *[card for pair in view.shown for card in pair.cards]]
            gone = [picked.card for picked in view.picked]
            lying = in_order([card for card in table if card not in gone])
            self._last_table = view, lying
        return lying

    def _discards_of(self, rounds: tuple[SaintPokerRound, ...]) -> Buffer:
        """Return the cards that left the game in these rounds, as a set.

        Nearly always the rounds are those of the last observation.
        """
        last, discards = self._last_discards
        if rounds is not last:
            discards = array("f", bytes(4 * len(DECK)))
            for done in rounds:
                write_set(discards, 0, done.discards)
            self._last_discards = rounds, discards
        return discards


def _river(hand: Hand, number: int) -> Action:
    return River(hand[number])


def _show(hand: Hand, number: int) -> Action:
    first, second = PAIRS[number - HAND]
    return Show((hand[first], hand[second]))


def _pick_up(lying: Hand, number: int) -> Action:
    return PickUp(lying[number - PICK_UPS])


ENCODING = SaintPokerEncoding
