"""Positions of Poke and their transitions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from referee.games.contract import Action, Legal, State
from referee.games.poke.actions import (
    Answer,
    Draw,
    Lead,
    Pair,
    PokeDeal,
    PokeDrawn,
    PokeTrick,
    PokeView,
)
from referee.games.poke.legal import LegalAnswers, LegalDraws, LegalLeads, beats, can_beat, without
from referee.games.shared.cards import DECK, RANK, Card, Hand, in_order
from referee.games.shared.dealing import Chance
from referee.games.shared.fast_values import fast_value
from referee.games.shared.poker import Category, HandValue, best_hand

# Points of a deal, a leg and a rubber (docs/rules/poke.md, *Score*).


BONUS = {
    Category.HIGH_CARD: 0,
    Category.PAIR: 50,
    Category.TWO_PAIRS: 100,
    Category.THREE_OF_A_KIND: 200,
    Category.STRAIGHT: 300,
    Category.FLUSH: 400,
    Category.FULL_HOUSE: 500,
    Category.FOUR_OF_A_KIND: 600,
    Category.STRAIGHT_FLUSH: 750,
}
ROYAL_FLUSH = 1000
SWEEP = 250
LEG = 100
LEG_POINTS = 20
LEGS_TO_WIN = 2
RUBBER = {0: 750, 1: 500}
"""Points for the second leg won, by the number of the opponent's legs."""
DEALER_DRAWS = 3
NON_DEALER_DRAWS = 2
_TURN = ((0,), (1,))
"""The seats that act, by the seat whose turn it is."""


def score_deal(tricks: tuple[PokeTrick, ...], multipliers: Pair) -> tuple[list[int], list[int]]:
    """Return a deal's points below and above the line, by seat (docs/rules/poke.md, *Score*)."""
    taken = [0, 0]
    held: tuple[list[Card], list[Card]] = ([], [])
    for trick in tricks:
        taken[trick.winner] += len(trick.lead)
        held[trick.leader].extend(trick.lead)
        held[1 - trick.leader].extend(trick.answer)
    below = [taken[0] * multipliers[1], taken[1] * multipliers[0]]
    above = [SWEEP if tricks_taken == 5 else 0 for tricks_taken in taken]
    values = [best_hand(held[0]), best_hand(held[1])]
    if values[0] != values[1]:
        better = 0 if values[0] > values[1] else 1
        above[better] += bonus(values[better])
    return below, above


def bonus(value: HandValue) -> int:
    """Return the points above the line for the better hand."""
    if value.category is Category.STRAIGHT_FLUSH and value.ranks[0] == 14:
        return ROYAL_FLUSH
    return BONUS[value.category]


_drawn = cache(PokeDrawn)


def _sorted(cards: Hand) -> Hand:
    """Return cards in canonical order; one card needs no sorting."""
    return cards if len(cards) == 1 else in_order(cards)


@fast_value
@dataclass(frozen=True, slots=True)
class PokeState(State):
    """A position: the rubber so far and the current deal."""

    luck: Chance
    must_beat: bool
    deals: tuple[PokeDeal, ...]
    below: Pair
    above: Pair
    legs: Pair
    dealer: int
    phase: str
    """ "draw", "lead", "answer", or "over" """
    turn: int
    stock: Hand
    hands: tuple[Hand, Hand]
    discards: tuple[Hand, Hand]
    drawn: tuple[PokeDrawn, ...]
    tricks: tuple[PokeTrick, ...]
    led: Hand

    @property
    def actors(self) -> tuple[int, ...]:
        return () if self.phase == "over" else _TURN[self.turn]

    @property
    def scores(self) -> tuple[int, ...]:
        return self.above

    @property
    def multipliers(self) -> Pair:
        """Return the multiplier caused by each seat: 1, 2 (doubled) or 4 (redoubled).

        It multiplies the points of the opponent's tricks.
        """
        draws = [0, 0]
        for drawn in self.drawn:
            if drawn.cards:
                draws[drawn.seat] += 1
        # the dealer's first draw does not double
        draws[self.dealer] = max(0, draws[self.dealer] - 1)
        return 1 << draws[0], 1 << draws[1]

    def legal(self, seat: int) -> Legal:
        hand = self.hands[seat]
        if self.phase == "draw":
            return LegalDraws(hand)
        if self.phase == "lead":
            return LegalLeads(hand)
        return LegalAnswers(hand, self.led, self.must_beat)

    def view(self, seat: int) -> PokeView:
        return self._seen(self.hands[seat], self.discards[seat])

    def public(self) -> PokeView:
        return self._seen((), ())

    def _seen(self, hand: Hand, discards: Hand) -> PokeView:
        """Build a view from the public information and a seat's hand and discards."""
        return PokeView(
            must_beat=self.must_beat,
            deal=len(self.deals),
            dealer=self.dealer,
            phase=self.phase,
            hand=hand,
            discards=discards,
            below=self.below,
            above=self.above,
            legs=self.legs,
            multipliers=self.multipliers,
            drawn=self.drawn,
            tricks=self.tricks,
            lead=self.led,
            deals=self.deals,
        )

    def after(self, moves: Mapping[int, Action]) -> State:
        action = moves[self.turn]
        if isinstance(action, Answer):
            return self._after_answer(_sorted(action.cards))
        if isinstance(action, Lead):
            return self.but(
                phase="answer",
                turn=1 - self.turn,
                hands=self._hands(without(self.hands[self.turn], action.cards)),
                led=_sorted(action.cards),
            )
        if isinstance(action, Draw):
            return self._after_draw(action.discards)
        phase, turn = self._after_last_draw()
        return self.but(phase=phase, turn=turn, drawn=(*self.drawn, _drawn(self.turn, 0)))

    def _hands(self, mine: Hand) -> tuple[Hand, Hand]:
        """Return both hands, with this one for the seat to act."""
        return (mine, self.hands[1]) if self.turn == 0 else (self.hands[0], mine)

    def _after_draw(self, discards: Hand) -> State:
        seat, size = self.turn, len(discards)
        kept = without(self.hands[seat], discards)
        laid = list(self.discards)
        laid[seat] += _sorted(discards)
        phase, turn = "draw", seat
        allowed = DEALER_DRAWS if seat == self.dealer else NON_DEALER_DRAWS
        if sum([d.seat == seat for d in self.drawn]) + 1 == allowed:
            phase, turn = self._after_last_draw()
        return self.but(
            phase=phase,
            turn=turn,
            stock=self.stock[size:],
            hands=self._hands(in_order(kept + self.stock[:size])),
            discards=(laid[0], laid[1]),
            drawn=(*self.drawn, _drawn(seat, size)),
        )

    def _after_last_draw(self) -> tuple[str, int]:
        return ("draw", self.dealer) if self.turn != self.dealer else ("lead", 1 - self.dealer)

    def _after_answer(self, answer: Hand) -> State:
        seat = self.turn
        winner = seat if beats(answer, self.led) else 1 - seat
        hand = without(self.hands[seat], answer)
        tricks = (*self.tricks, PokeTrick(1 - seat, self.led, answer, winner))
        if not hand:
            return self._after_deal(winner, tricks)
        return self.but(phase="lead", turn=winner, hands=self._hands(hand), tricks=tricks, led=())

    def _after_deal(self, turn: int, tricks: tuple[PokeTrick, ...]) -> State:
        """Score the deal, the leg and the rubber; deal again unless the rubber is over."""
        below, above = score_deal(tricks, self.multipliers)
        totals = [self.below[s] + below[s] for s in (0, 1)]
        legs = list(self.legs)
        over = False
        if max(totals) >= LEG_POINTS and totals[0] != totals[1]:
            winner = 0 if totals[0] > totals[1] else 1
            above[winner] += LEG
            legs[winner] += 1
            totals = [0, 0]
            if over := legs[winner] == LEGS_TO_WIN:
                above[winner] += RUBBER[legs[1 - winner]]
        deal = PokeDeal(self.dealer, self.drawn, tricks, (below[0], below[1]), (above[0], above[1]))
        scored = self.but(
            deals=(*self.deals, deal),
            below=(totals[0], totals[1]),
            above=(self.above[0] + above[0], self.above[1] + above[1]),
            legs=(legs[0], legs[1]),
        )
        if over:
            return scored.but(phase="over", turn=turn, hands=((), ()), tricks=tricks, led=())
        return scored._dealt(1 - self.dealer)

    def _dealt(self, dealer: int) -> "PokeState":
        """Start the next deal with five cards per seat (rules README, *Dealing*)."""
        deck = self.luck.shuffled("deck", len(self.deals), DECK)
        return self.but(
            dealer=dealer,
            phase="draw",
            turn=1 - dealer,
            stock=deck[10:],
            hands=(in_order(deck[:5]), in_order(deck[5:10])),
            discards=((), ()),
            drawn=(),
            tricks=(),
            led=(),
        )

    def redeal(self, seat: int | None, luck: Chance) -> "PokeState":
        """Deal again the stock, hidden discards and hidden hands, uniformly among consistent deals.

        1. A seat that lost to single cards can hold only low cards: deal to the most restricted
           seat first.
        2. Reject a deal in which a seat could have beaten a lead that it lost to; then shuffle
           again.
        """
        others = [s for s in (0, 1) if s != seat]
        seen = {*self.led}
        if seat is not None:
            seen.update(self.hands[seat], self.discards[seat])
        for trick in self.tricks:
            seen.update(trick.lead, trick.answer)
        unknown = tuple(c for c in DECK if c not in seen)
        highest = {s: self._highest_possible(s) for s in others}
        others.sort(key=highest.__getitem__)
        hands, discards = list(self.hands), list(self.discards)
        attempt = 0
        while True:
            rest = luck.shuffled("redeal", attempt, unknown)
            for s in others:
                low = [c for c in rest if RANK[c] <= highest[s]]
                hands[s] = in_order(low[: len(self.hands[s])])
                rest = without(rest, hands[s])
            if all(self._could_hold(s, hands[s]) for s in others):
                break
            attempt += 1
        for s in others:
            laid = len(discards[s])
            discards[s], rest = self._laid(s, rest[:laid]), rest[laid:]
        return self.but(
            luck=luck, hands=(hands[0], hands[1]), discards=(discards[0], discards[1]), stock=rest
        )

    def deal_unseen(self, luck: Chance) -> "PokeState":
        """Shuffle the stock."""
        return self.but(luck=luck, stock=luck.shuffled("analysis", 0, sorted(self.stock)))

    def chance_since(self, before: State) -> Literal["", "early", "late"]:
        """Return whether cards were drawn."""
        assert isinstance(before, PokeState)
        drawn = len(self.stock) != len(before.stock)
        return "early" if drawn else ""

    def _laid(self, seat: int, cards: Hand) -> Hand:
        """Return these cards in the order the seat would discard them, sorted within each draw."""
        laid: Hand = ()
        for drawn in self.drawn:
            if drawn.seat == seat:
                laid += in_order(cards[len(laid) : len(laid) + drawn.cards])
        return laid

    def _lost_answers(self, seat: int) -> Iterator[tuple[Hand, Hand]]:
        """Yield the leads that a seat had to beat if possible, but lost to.

        Each comes with the cards the seat has played since, that answer included.
        """
        played: Hand = self.led if self.turn != seat else ()
        for trick in reversed(self.tricks):
            if trick.leader == seat:
                played += trick.lead
                continue
            played += trick.answer
            if self.must_beat and trick.winner != seat:
                yield trick.lead, played

    def _highest_possible(self, seat: int) -> int:
        """Return the highest rank that a hand can hold after it lost to single cards."""
        lost = [RANK[lead[0]] for lead, _ in self._lost_answers(seat) if len(lead) == 1]
        return min(lost, default=14)

    def _could_hold(self, seat: int, hand: Hand) -> bool:
        """Return whether the hand is consistent with the leads the seat lost to."""
        lost = self._lost_answers(seat)
        return not any(can_beat(hand + played, lead) for lead, played in lost)
