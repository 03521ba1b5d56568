"""Positions of Pokex and their transitions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from referee.games.contract import Action, Legal, State
from referee.games.pokex.actions import (
    Bid,
    NameWild,
    Pair,
    PlayCard,
    PlayPair,
    PokexCall,
    PokexDeal,
    PokexPlayed,
    PokexTrick,
    PokexView,
)
from referee.games.pokex.legal import (
    HIGHEST_BID,
    LegalCalls,
    LegalCards,
    LegalPairs,
    LegalWildRanks,
)
from referee.games.shared.cards import DECK_WITH_JOKERS, Card, Hand, in_order
from referee.games.shared.dealing import Chance
from referee.games.shared.fast_values import fast_value
from referee.games.shared.wild_cards import wild_hand

# Points of a deal and the end of the game (docs/rules/pokex.md, *The score*).


GOAL = 33
TRICKS = 6
_TURN = ((0,), (1,), (2,), (3,))
"""The seats that act, by the seat whose turn it is."""


def triangle(tricks: int) -> int:
    """Return 1 + 2 + ... + tricks."""
    return tricks * (tricks + 1) // 2


def declared(bid: int, tricks: int) -> int:
    """Return the points of the declarer's side."""
    return 0 if tricks < bid else triangle(bid) + bid * (tricks - bid)


def score_deal(bid: int, declarer: int, taken: Pair) -> Pair:
    """Return the points of a deal by side; ``declarer`` is a seat, ignored if ``bid`` is 0."""
    points = [triangle(tricks) for tricks in taken]
    if bid:
        side = declarer % 2
        points[side] = declared(bid, taken[side])
    return points[0], points[1]


def is_over(points: Pair) -> bool:
    """Return whether these totals after a complete deal end the game."""
    return max(points) >= GOAL and points[0] != points[1]


@dataclass(frozen=True)
class PokexForm:
    """Parameters that differ between four seats and two."""

    hand: int
    centre: int
    turns: int
    """Number of actions per trick."""


FORMS = {4: PokexForm(hand=12, centre=6, turns=4), 2: PokexForm(hand=18, centre=12, turns=6)}
"""The form of the game by the number of seats."""


@fast_value
@dataclass(frozen=True, slots=True)
class PokexState(State):
    """A position: the finished deals and the current one."""

    luck: Chance
    deals: tuple[PokexDeal, ...]
    points: Pair
    dealer: int
    phase: str
    """ "bid", "name", "play", or "over" """
    hands: tuple[Hand, ...]
    centre: Hand
    """The cards in the centre: in their row (four seats), or sorted (two)."""
    row: Hand
    """The centre cards in the order of the tricks; empty before play begins."""
    aside: Hand
    auction: tuple[PokexCall, ...]
    bid: int
    """The standing bid; 0 without a bid."""
    declarer: int
    """The seat of the standing bid."""
    wild_rank: str
    played: tuple[PokexPlayed, ...]
    tricks: tuple[PokexTrick, ...]
    taken: Pair

    @property
    def seats(self) -> int:
        """Return the number of seats."""
        return len(self.hands)

    @property
    def turn(self) -> int:
        """Return the seat to act; meaningless when the game is over."""
        seats = len(self.hands)
        if self.phase == "bid":
            return (self.dealer + 1 + len(self.auction)) % seats
        if self.phase == "name":
            return self.declarer
        leader = self.declarer - 1 if self.bid else self.dealer + 1
        return (leader + len(self.played)) % seats

    @property
    def actors(self) -> tuple[int, ...]:
        return () if self.phase == "over" else _TURN[self.turn]

    @property
    def scores(self) -> tuple[int, ...]:
        return self.points * (len(self.hands) // 2)

    @property
    def turned(self) -> Hand:
        """Return the centre cards of the current trick."""
        size = len(self.centre) // TRICKS
        start = len(self.tricks) * size
        return self.row[start : start + size]

    def legal(self, seat: int) -> Legal:
        if self.phase == "bid":
            return LegalCalls(self.bid)
        if self.phase == "name":
            return LegalWildRanks()
        kind = LegalPairs if len(self.hands) == 4 else LegalCards
        return kind(self.hands[seat], self.wild_rank)

    def view(self, seat: int) -> PokexView:
        return self._seen(self.hands[seat])

    def public(self) -> PokexView:
        return self._seen(())

    def _seen(self, hand: Hand) -> PokexView:
        """Build a view from the public information and a hand."""
        return PokexView(
            deal=len(self.deals),
            dealer=self.dealer,
            phase=self.phase,
            hand=hand,
            centre=self.centre,
            auction=self.auction,
            bid=self.bid,
            declarer=self.declarer,
            wild_rank=self.wild_rank,
            turned=self.turned,
            played=self.played,
            tricks=self.tricks,
            taken=self.taken,
            points=self.points,
            deals=self.deals,
        )

    def after(self, moves: Mapping[int, Action]) -> State:
        ((seat, action),) = moves.items()
        if isinstance(action, PlayPair):
            return self._after_played(seat, in_order(action.cards))
        if isinstance(action, PlayCard):
            return self._after_played(seat, (action.card,))
        if isinstance(action, Bid):
            auction = (*self.auction, PokexCall(seat, action.tricks))
            return self.but(auction=auction, bid=action.tricks, declarer=seat)._after_call()
        if isinstance(action, NameWild):
            return self.but(wild_rank=action.rank)._begin_play()
        return self.but(auction=(*self.auction, PokexCall(seat, 0)))._after_call()

    def _after_call(self) -> State:
        """Continue the auction or end it."""
        seats = len(self.hands)
        last = self.auction[-(seats - 1 if self.bid else seats) :]
        passed_out = len(self.auction) >= seats and not any(call.tricks for call in last)
        if self.bid < HIGHEST_BID and not passed_out:
            return self
        return self.but(phase="name") if self.bid else self._begin_play()

    def _begin_play(self) -> State:
        """Arrange the centre cards for the tricks; with two seats, shuffle them first."""
        row = self.centre
        if self.seats == 2:
            row = self.luck.shuffled("centre", len(self.deals), row)
        return self.but(phase="play", row=row)

    def _after_played(self, seat: int, cards: Hand) -> State:
        by_seat = list(self.hands)
        by_seat[seat] = tuple([c for c in by_seat[seat] if c not in cards])
        hands, played = tuple(by_seat), (*self.played, PokexPlayed(seat, cards))
        if len(played) < FORMS[len(hands)].turns:
            return self.but(hands=hands, played=played)
        return self._after_trick(hands, played)

    def _after_trick(self, hands: tuple[Hand, ...], played: tuple[PokexPlayed, ...]) -> State:
        """Award the trick to the side with the better hand."""
        turned = self.turned
        compared: tuple[list[Card], list[Card]] = (list(turned), list(turned))
        for play in played:
            compared[play.seat % 2].extend(play.cards)
        ours, theirs = (wild_hand(hand, self.wild_rank) for hand in compared)
        won = (int(ours > theirs), int(ours < theirs))
        if ours == theirs and self.bid:
            won = (int(self.declarer % 2 == 0), self.declarer % 2)
        state = self.but(
            hands=hands,
            played=(),
            tricks=(*self.tricks, PokexTrick(turned, played, won)),
            taken=(self.taken[0] + won[0], self.taken[1] + won[1]),
        )
        return state if len(state.tricks) < TRICKS else state._after_deal()

    def _after_deal(self) -> State:
        """Score the deal; deal again unless the game is over."""
        gave = score_deal(self.bid, self.declarer, self.taken)
        deal = PokexDeal(
            dealer=self.dealer,
            centre=self.centre,
            auction=self.auction,
            bid=self.bid,
            declarer=self.declarer,
            wild_rank=self.wild_rank,
            tricks=self.tricks,
            taken=self.taken,
            points=gave,
        )
        points = (self.points[0] + gave[0], self.points[1] + gave[1])
        state = self.but(deals=(*self.deals, deal), points=points)
        if is_over(points):
            return state.but(phase="over")
        return state.dealt((self.dealer + 1) % self.seats)

    def dealt(self, dealer: int) -> "PokexState":
        """Start the next deal (rules README, *Dealing*)."""
        seats = self.seats
        form = FORMS[seats]
        deck = self.luck.shuffled("deck", len(self.deals), DECK_WITH_JOKERS)
        held = form.hand * seats
        centre = deck[held : held + form.centre]
        return self.but(
            dealer=dealer,
            phase="bid",
            hands=tuple(
                in_order(deck[form.hand * seat : form.hand * (seat + 1)]) for seat in range(seats)
            ),
            centre=centre if seats == 4 else in_order(centre),
            row=(),
            aside=deck[held + form.centre :],
            auction=(),
            bid=0,
            declarer=0,
            wild_rank="",
            played=(),
            tricks=(),
            taken=(0, 0),
        )

    def redeal(self, seat: int | None, luck: Chance) -> "PokexState":
        """Deal again the other hands, the cards set aside and the face-down centre cards."""
        others = [other for other in range(self.seats) if other != seat]
        unseen = in_order((*self.aside, *(c for other in others for c in self.hands[other])))
        pool = luck.shuffled("redeal", 0, unseen)
        hands = list(self.hands)
        for other in others:
            size = len(hands[other])
            hands[other], pool = in_order(pool[:size]), pool[size:]
        row = self.row
        if self.seats == 2 and row:
            known = 2 * len(self.tricks) + len(self.turned)
            row = (*row[:known], *luck.shuffled("redeal", 1, in_order(row[known:])))
        return self.but(luck=luck, hands=tuple(hands), aside=pool, row=row)

    def deal_unseen(self, luck: Chance) -> "PokexState":
        """Shuffle the face-down centre cards of two seats."""
        row = self.row
        if self.seats == 2 and row:
            known = 2 * len(self.tricks) + len(self.turned)
            row = (*row[:known], *luck.shuffled("analysis", 0, sorted(row[known:])))
        return self.but(luck=luck, row=row)

    def chance_since(self, before: State) -> Literal["", "early", "late"]:
        """Return whether centre cards were turned."""
        assert isinstance(before, PokexState)
        changed = len(self.tricks) != len(before.tricks) or self.phase != before.phase
        return "early" if self.seats == 2 and self.phase == "play" and changed else ""
