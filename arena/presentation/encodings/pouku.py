"""Encode Pouku for reinforcement learning."""

from collections.abc import Sequence
from typing import Final

from arena.presentation.encoding import (
    Buffer,
    Choices,
    Decision,
    Encoding,
    squashed,
    write_places,
    write_set,
)
from referee.games.contract import Action, Legal
from referee.games.pouku.actions import Discard, Give, GoOut, PoukuView
from referee.games.pouku.legal import LISTED, PoukuTurns
from referee.games.shared.cards import RANK, Hand

HAND = 4
GO_OUT: Final = 0
NO_KEEP: Final = 1
KEEPS = 2
DISCARDS = KEEPS + LISTED
RANKS = 13
KEEP = RANKS + HAND
"""Length of an encoded keep: the number of cards of each rank, and the seat's own card's position.
"""


class KeepChoices(Choices):
    """Step 1: go out, keep nothing, or make one of the listed keeps."""

    def __init__(self, legal: PoukuTurns, keeps: Sequence[Hand], may_go_out: bool) -> None:
        self.legal = legal
        self.keeps = keeps
        self.numbers = (NO_KEEP, *range(KEEPS, KEEPS + len(keeps)), *(GO_OUT,) * may_go_out)

    def actions(self, number: int) -> Sequence[Action]:
        if number == GO_OUT:
            return (GoOut(),)
        after = self._discards(number)
        return [after.action(discard) for discard in after.numbers]

    def chosen(self, number: int) -> Choices | Decision:
        return Decision(GoOut()) if number == GO_OUT else self._discards(number)

    def _discards(self, number: int) -> "DiscardChoices":
        keep = () if number == NO_KEEP else self.keeps[number - KEEPS]
        return DiscardChoices(self.legal.hand, keep, self.legal.teams)


class DiscardChoices(Choices):
    """Step 2: the position of the card to discard or to give."""

    def __init__(self, hand: Hand, keep: Hand, teams: bool) -> None:
        self.hand = hand
        self.keep = keep
        free = [place for place, card in enumerate(hand) if card not in keep]
        self.numbers = [
            DISCARDS + place + kind for kind in ((0, HAND) if teams else (0,)) for place in free
        ]

    def action(self, number: int) -> Action:
        """Return the action of a number."""
        kind, place = divmod(number - DISCARDS, HAND)
        return (Give if kind else Discard)(self.hand[place], self.keep)

    def actions(self, number: int) -> Sequence[Action]:
        return (self.action(number),)

    def chosen(self, number: int) -> Decision:
        return Decision(self.action(number))


class PoukuEncoding(Encoding):
    """Encodes an action in two steps.

    1. Go out (0), keep nothing (1), or make one of the listed keeps.
    2. The position in the hand of the card to discard or to give.

    Keeps are numbered by a list because too many sets of cards are possible; the observation
    contains the listed keeps.
    """

    size = DISCARDS + 2 * HAND

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        layout = self.layout
        self._hand = layout.places("hand", "the hand", HAND)
        self._drawn = layout.places("drawn", "the card drawn in this turn", 1)
        self._point = layout.places("point_card", "the point card", 1)
        self._may_keep = layout.flag("may_keep", "whether a keep is still allowed")
        self._worth = layout.squashed(
            "worth", "points for going out now, 0 if that is not legal", 8
        )
        self._stock = layout.ratio("stock", "cards in the stock", 52)
        self._deal = layout.ratio("deal", "finished deals", 2 * seats)
        self._turns = layout.squashed("turns", "turns in this deal", 10)
        with layout.repeated("seat", seats):
            self._dealer = layout.flag("dealer", "whether the seat deals")
            self._turn = layout.flag("turn", "whether it is its turn")
            self._size = layout.ratio("hand_size", "cards in the hand", HAND)
            self._score = layout.squashed("score", "points", 20)
            self._field = layout.card_set("field", "cards in its field")
            self._kept = layout.card_set("kept", "cards of its keep")
        self._stride = layout.stride(self._field)
        row = "n / 4 for each rank, then one-hot: position of the card from the hand"
        self._listed = layout.block("keeps", "the listed keeps", row, (LISTED, KEEP)).start
        self._chosen = layout.block("keep", "the keep chosen in step 1", row, (KEEP,)).start

    def choices(self, view: PoukuView, legal: Legal) -> Choices:
        assert isinstance(legal, PoukuTurns)
        keeps, may_go_out = legal.listed_keeps, view.worth > 0
        if not keeps and not may_go_out:
            return DiscardChoices(legal.hand, (), legal.teams)
        return KeepChoices(legal, keeps, may_go_out)

    def write(self, buffer: Buffer, view: PoukuView, seat: int, choices: Choices) -> None:
        write_places(buffer, self._hand, view.hand)
        write_places(buffer, self._drawn, (view.drawn,))
        write_places(buffer, self._point, (view.point_card,))
        buffer[self._may_keep] = view.may_keep
        buffer[self._worth.start] = squashed(view.worth, self._worth.scale)
        buffer[self._stock.start] = view.stock / self._stock.scale
        buffer[self._deal.start] = min(1, view.deal / self._deal.scale)
        buffer[self._turns.start] = squashed(len(view.turns), self._turns.scale)
        size, score, shift = self._size, self._score, 0
        for who in self.from_here(seat):
            if view.dealer == who:
                buffer[self._dealer + shift] = 1
            if view.turn == who:
                buffer[self._turn + shift] = 1
            buffer[size.start + shift] = view.hand_sizes[who] / size.scale
            if points := view.scores[who]:
                buffer[score.start + shift] = squashed(points, score.scale)
            if cards := view.fields[who].cards:
                write_set(buffer, self._field + shift, cards)
            if cards := view.kept[who].cards:
                write_set(buffer, self._kept + shift, cards)
            shift += self._stride
        match choices:
            case KeepChoices(keeps=keeps):
                for number, keep in enumerate(keeps):
                    _write_keep(buffer, self._listed + number * KEEP, keep, view.hand)
            case DiscardChoices(keep=keep):
                _write_keep(buffer, self._chosen, keep, view.hand)


def _write_keep(buffer: Buffer, start: int, keep: Hand, hand: Hand) -> None:
    for card in keep:
        buffer[start + RANK[card] - 2] += 1 / 4
        if card in hand:
            buffer[start + RANKS + hand.index(card)] = 1


ENCODING = PoukuEncoding
