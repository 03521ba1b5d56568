"""Encode Poke for reinforcement learning."""

from functools import partial
from itertools import combinations

from arena.presentation.encoding import (
    Buffer,
    Choices,
    DirectChoices,
    Encoding,
    squashed,
    write_places,
    write_set,
)
from referee.games.contract import Action, LazyActions, Legal
from referee.games.poke.actions import Answer, Draw, Lead, PokeView, Stand
from referee.games.shared.cards import Hand

HAND = 5
LEAD = 4
PHASES = {"draw": 0, "lead": 1, "answer": 2, "over": 3}
DRAWS = 3
"""Maximum number of a seat's draws in a deal that are encoded."""
DISCARDS = tuple(
    sum(1 << place for place in chosen)
    for size in range(DRAWS + 1)
    for chosen in combinations(range(HAND), size)
)
"""The numbers of all draws, in the order of the list of legal actions."""
POSITIONS = tuple(tuple(p for p in range(HAND) if number >> p & 1) for number in range(1 << HAND))
"""The positions of each number."""


class PokeEncoding(Encoding):
    """Encodes an action as a set of positions in the hand.

    Position p has the value 2 to the p; 0 is to stand. The phase determines the use of the cards:
    they are discarded, led, or answer a lead.
    """

    size = 1 << HAND

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        layout = self.layout
        self._phase = layout.one_of("phase", "the phase", tuple(PHASES))
        self._dealer = layout.flag("dealer", "whether the seat deals")
        self._must_beat = layout.flag("must_beat", "the option `must_beat`")
        self._deal = layout.squashed("deal", "finished deals", 10)
        self._hand = layout.places("hand", "the hand", HAND)
        self._lead = layout.places("lead", "the lead to answer", LEAD)
        self._discards = layout.card_set("discards", "the seat's own discards")
        with layout.repeated("seat", seats):
            self._multiplier = layout.ratio("multiplier", "the multiplier it caused", 4)
            self._legs = layout.ratio("legs", "legs won", 2)
            self._below = layout.squashed("below", "points below the line", 20)
            self._above = layout.squashed("above", "points above the line", 500)
            meaning = "1 + cards of each draw; a stand is 1, no draw 0"
            self._drawn = layout.block("drawn", meaning, "n / 4, 0 to 1", (DRAWS,), 4)
            self._played = layout.card_set("played", "cards led and answered in this deal")
            self._taken = layout.ratio("taken", "tricks taken in this deal", HAND)
        self._stride = layout.stride(self._played)

    def choices(self, view: PokeView, legal: Legal) -> Choices:
        assert isinstance(legal, LazyActions)
        hand = view.hand
        if view.phase == "draw":
            return DirectChoices(DISCARDS, partial(_draw, hand))
        bit = {card: 1 << place for place, card in enumerate(hand)}
        numbers = [
            sum([bit[card] for card in cards])
            for _, groups in legal.by_constructor()
            for cards in groups
        ]
        return DirectChoices(
            numbers, partial(_played, Lead if view.phase == "lead" else Answer, hand)
        )

    def write(self, buffer: Buffer, view: PokeView, seat: int, choices: Choices) -> None:
        buffer[self._phase + PHASES[view.phase]] = 1
        buffer[self._dealer] = view.dealer == seat
        buffer[self._must_beat] = view.must_beat
        buffer[self._deal.start] = squashed(view.deal, self._deal.scale)
        write_places(buffer, self._hand, view.hand)
        write_places(buffer, self._lead, view.lead)
        write_set(buffer, self._discards, view.discards)
        for who in (0, 1):
            shift = self._stride * (who != seat)
            buffer[self._multiplier.start + shift] = view.multipliers[who] / self._multiplier.scale
            buffer[self._legs.start + shift] = view.legs[who] / self._legs.scale
            buffer[self._below.start + shift] = squashed(view.below[who], self._below.scale)
            buffer[self._above.start + shift] = squashed(view.above[who], self._above.scale)
        self._write_deal(buffer, view, seat)

    def _write_deal(self, buffer: Buffer, view: PokeView, seat: int) -> None:
        """Write the draws and tricks of the current deal."""
        stride = self._stride
        at, scale = self._drawn.start, self._drawn.scale
        next_draw = [at, at + stride]
        for draw in view.drawn:
            other = draw.seat != seat
            buffer[next_draw[other]] = (1 + draw.cards) / scale
            next_draw[other] += 1
        taken = [0, 0]
        for trick in view.tricks:
            other = trick.leader != seat
            write_set(buffer, self._played + stride * other, trick.lead)
            write_set(buffer, self._played + stride * (not other), trick.answer)
            taken[trick.winner != seat] += len(trick.lead)
        for step in (0, 1):
            buffer[self._taken.start + stride * step] = taken[step] / self._taken.scale


def _draw(hand: Hand, number: int) -> Action:
    return Draw(tuple([hand[place] for place in POSITIONS[number]])) if number else Stand()


def _played(kind: type[Lead] | type[Answer], hand: Hand, number: int) -> Action:
    return kind(tuple([hand[place] for place in POSITIONS[number]]))


ENCODING = PokeEncoding
