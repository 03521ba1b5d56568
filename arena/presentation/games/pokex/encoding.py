"""Encode Pokex for reinforcement learning."""

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
    PokexView,
)
from referee.games.pokex.legal import HIGHEST_BID, wild_last
from referee.games.pokex.state import FORMS, TRICKS
from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS, Card, Hand

PHASES = {"bid": 0, "name": 1, "play": 2, "over": 3}
DECK = len(DECK_WITH_JOKERS)
NAMES = 1 + HIGHEST_BID
PLAYS = NAMES + len(RANKS)


class PokexEncoding(Encoding):
    """Encodes an action as one number.

    In order: 0 to pass, 1 to 6 for a bid, the ranks to name, and the cards to play. With four seats
    the latter are pairs of positions in the hand, with two seats single positions.
    """

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        self.form = FORMS[seats]
        held = 2 if seats == 4 else 1
        positions = list(combinations(range(self.form.hand), held))
        self._numbers = {chosen: PLAYS + n for n, chosen in enumerate(positions)}
        self.size = PLAYS + len(positions)
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
        hand = wild_last(view.hand, view.wild_rank)
        index = {card: place for place, card in enumerate(view.hand)}
        order = [index[card] for card in hand]
        if self.seats == 4:
            pairs = {
                self._numbers[(a, b) if a < b else (b, a)]: (a, b)
                for a, b in combinations(order, 2)
            }
            return DirectChoices(tuple(pairs), partial(_pair, view.hand, pairs))
        return DirectChoices([PLAYS + place for place in order], partial(_card, view.hand))

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
        for trick in view.tricks:
            for play in trick.played:
                shift = stride * ((play.seat - seat) % seats)
                write_set(buffer, before + shift, play.cards)


def _call(number: int) -> Action:
    return Bid(number) if number else PassBid()


def _name(number: int) -> Action:
    return NameWild(RANKS[number - NAMES])


def _pair(hand: Hand, pairs: dict[int, tuple[int, int]], number: int) -> Action:
    first, second = pairs[number]
    return PlayPair((hand[first], hand[second]))


def _card(hand: Hand, number: int) -> Action:
    card: Card = hand[number - PLAYS]
    return PlayCard(card)
