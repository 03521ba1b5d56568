"""Encode Pokex for reinforcement learning."""

from array import array
from dataclasses import dataclass
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
from referee.games.contract import Action, Legal
from referee.games.pokex.actions import (
    Bid,
    NameWild,
    PassBid,
    PlayCard,
    PlayPair,
    PokexTrick,
    PokexView,
)
from referee.games.pokex.legal import HIGHEST_BID, wild_last
from referee.games.pokex.state import FORMS, TRICKS
from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS

PHASES = {"bid": 0, "name": 1, "play": 2, "over": 3}
DECK = len(DECK_WITH_JOKERS)
NAMES = 1 + HIGHEST_BID
PLAYS = NAMES + len(RANKS)


@dataclass(slots=True)
class EarlierPlays:
    """The cards that each seat played in the tricks of a deal; new tricks are added."""

    tricks: tuple[PokexTrick, ...]
    cards: tuple[Buffer, ...]


class PokexEncoding(Encoding):
    """Encodes an action as one number.

    In order: 0 to pass, 1 to 6 for a bid, the ranks to name, and the cards to play. With four seats
    the latter are pairs of positions in the hand, with two seats single positions.
    """

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        self.form = FORMS[seats]
        held = 2 if seats == 4 else 1
        self._positions = tuple(combinations(range(self.form.hand), held))
        self._plays = tuple(
            tuple(PLAYS + n for n, chosen in enumerate(self._positions) if chosen[-1] < size)
            for size in range(self.form.hand + 1)
        )
        """The numbers of all plays, by the size of the hand."""
        self._earlier = EarlierPlays((), ())
        self.size = PLAYS + len(self._positions)
        layout = self.layout
        self._phase = layout.one_of("phase", "the phase", tuple(PHASES))
        self._deal = layout.squashed("deal", "finished deals", 10)
        self._bid = layout.ratio("bid", "the standing bid", HIGHEST_BID)
        self._hand = layout.places("hand", "the hand", self.form.hand)
        self._centre = layout.places("centre", "cards in the centre", self.form.centre)
        self._turned = layout.card_set("turned", "centre cards of the trick", DECK)
        self._wild = layout.one_of("wild_rank", "the wild rank", tuple(RANKS))
        with layout.repeated("seat", seats):
            self._dealer = layout.flag("dealer", "whether the seat deals")
            self._declarer = layout.flag("declarer", "whether it made the standing bid")
            self._called = layout.flag("called", "whether it has bid or passed")
            self._highest = layout.ratio("highest", "its highest bid", HIGHEST_BID)
            self._now = layout.card_set("played", "cards played in this trick", DECK)
            self._before = layout.card_set("earlier", "cards played in earlier tricks", DECK)
        self._stride = layout.stride(self._now)
        with layout.repeated("side", 2):
            self._taken = layout.ratio("taken", "tricks of the deal", TRICKS)
            self._points = layout.squashed("points", "points", 50)

    def choices(self, view: PokexView, legal: Legal) -> Choices:
        if view.phase == "bid":
            return DirectChoices((0, *range(view.bid + 1, HIGHEST_BID + 1)), _call)
        if view.phase == "name":
            return DirectChoices(range(NAMES, PLAYS), _name)
        return DirectChoices(self._plays[len(view.hand)], partial(self._played, view))

    def _played(self, view: PokexView, number: int) -> Action:
        cards = tuple([view.hand[place] for place in self._positions[number - PLAYS]])
        return PlayCard(*cards) if self.seats == 2 else PlayPair(wild_last(cards, view.wild_rank))

    def write(self, buffer: Buffer, view: PokexView, seat: int, choices: Choices) -> None:
        buffer[self._phase + PHASES[view.phase]] = 1
        buffer[self._deal.start] = squashed(view.deal, self._deal.scale)
        buffer[self._bid.start] = view.bid / self._bid.scale
        write_places(buffer, self._hand, view.hand)
        write_places(buffer, self._centre, view.centre)
        write_set(buffer, self._turned, view.turned)
        if view.wild_rank:
            buffer[self._wild + RANKS.index(view.wild_rank)] = 1
        self._write_auction(buffer, view, seat)
        self._write_tricks(buffer, view, seat)
        at, stride = self._taken.start, self._points.start + 1 - self._taken.start
        for step, side in enumerate((seat % 2, 1 - seat % 2)):
            buffer[at + stride * step] = view.taken[side] / self._taken.scale
            points = squashed(view.points[side], self._points.scale)
            buffer[self._points.start + stride * step] = points

    def _write_auction(self, buffer: Buffer, view: PokexView, seat: int) -> None:
        seats, stride, scale = self.seats, self._stride, self._highest.scale
        buffer[self._dealer + stride * ((view.dealer - seat) % seats)] = 1
        if view.bid:
            buffer[self._declarer + stride * ((view.declarer - seat) % seats)] = 1
        for call in view.auction:
            shift = stride * ((call.seat - seat) % seats)
            buffer[self._called + shift] = 1
            if call.tricks:  # bids rise, so the last one is the highest
                buffer[self._highest.start + shift] = call.tricks / scale

    def _write_tricks(self, buffer: Buffer, view: PokexView, seat: int) -> None:
        seats, stride, before = self.seats, self._stride, self._before
        for play in view.played:
            shift = stride * ((play.seat - seat) % seats)
            write_set(buffer, self._now + shift, play.cards)
        if view.tricks:
            earlier = self._played_earlier(view.tricks)
            for step, who in enumerate(self.from_here(seat)):
                at = before + stride * step
                buffer[at : at + DECK] = earlier[who]

    def _played_earlier(self, tricks: tuple[PokexTrick, ...]) -> tuple[Buffer, ...]:
        """Return the cards played in these tricks, by seat.

        Nearly always the tricks continue those of the last observation.
        """
        earlier = self._earlier
        if tricks is earlier.tricks:
            return earlier.cards
        known = len(earlier.tricks)
        if tricks[:known] != earlier.tricks or not known:
            empty = tuple(array("f", bytes(4 * DECK)) for _ in range(self.seats))
            earlier, known = EarlierPlays((), empty), 0
        for trick in tricks[known:]:
            for play in trick.played:
                write_set(earlier.cards[play.seat], 0, play.cards)
        earlier.tricks, self._earlier = tricks, earlier
        return earlier.cards


def _call(number: int) -> Action:
    return Bid(number) if number else PassBid()


def _name(number: int) -> Action:
    return NameWild(RANKS[number - NAMES])


ENCODING = PokexEncoding
