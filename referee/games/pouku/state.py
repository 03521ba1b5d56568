"""Positions of Pouku and their transitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from referee.games.contract import Action, State
from referee.games.pouku.actions import (
    Discard,
    GoOut,
    PoukuCards,
    PoukuDeal,
    PoukuTurn,
    PoukuView,
)
from referee.games.pouku.legal import PoukuTurns
from referee.games.pouku.scores import GoingOut, payment
from referee.games.pouku.yaku import Values
from referee.games.shared.cards import DECK, Card, Hand, in_order
from referee.games.shared.dealing import Chance
from referee.games.shared.fast_values import fast_value

FIELD = 2
"""Number of field cards per seat at the start of a deal."""
NEEDED, NEEDED_IN_TEAMS = 5, 8
"""Points required to go out, without the bonus for the first turn."""
DOUBLED = 8
"""Total points from which the score doubles."""
DEALS = 2
"""Number of deals per dealer."""
DEALS_WITH_POINTS = 10
"""Maximum number of deals per dealer in a game with starting points."""


def most_deals(seats: int, points: int) -> int:
    """Return the number of deals of a game; with starting points, the maximum (U-1.2, U-8.2)."""
    return seats * (DEALS_WITH_POINTS if points else DEALS)


def is_over(deals: int, totals: Sequence[int], points: int) -> bool:
    """Return whether a game is over after this number of deals.

    Args:
        deals: the number of finished deals.
        totals: the points of every seat.
        points: the starting points; 0: the game ends after two rounds of dealers.
    """
    return deals == most_deals(len(totals), points) or (points > 0 and min(totals) <= 0)


@dataclass(frozen=True)
class PoukuForm:
    """Parameters of the game: seats, teams, reference fields and the table of points."""

    seats: int
    teams: bool
    reference: str
    values: Values
    points: int = 0
    """Starting points; 0: the game ends after two rounds of dealers."""

    @property
    def hand(self) -> int:
        """Return the number of cards in a hand before drawing."""
        return 3 if self.teams else 2

    def side(self, seat: int) -> tuple[int, ...]:
        """Return the seat and its teammate, if any."""
        return (seat, (seat + 2) % self.seats) if self.teams else (seat,)

    def refers_to(self, seat: int) -> tuple[int, int]:
        """Return the seats of a seat's reference fields, the nearer one first."""
        step = -1 if self.reference == "left" and self.seats > 3 else 1
        return (seat + step) % self.seats, (seat + 2 * step) % self.seats


@fast_value
@dataclass(frozen=True, slots=True)
class PoukuState(State):
    """A position: the finished deals and the current one."""

    luck: Chance
    form: PoukuForm
    deals: tuple[PoukuDeal, ...]
    totals: tuple[int, ...]
    dealer: int
    turn: int
    point_card: Card
    stock: Hand
    hands: tuple[Hand, ...]
    drawn: str
    """The card drawn by the seat to act; empty when the game is over."""
    fields: tuple[Hand, ...]
    kept: tuple[Hand, ...]
    """The kept yaku of every seat, if any."""
    turns: tuple[PoukuTurn, ...]

    @property
    def over(self) -> bool:
        """Return whether every seat has dealt twice or, with starting points, one has none left."""
        return is_over(len(self.deals), self.totals, self.form.points)

    @property
    def actors(self) -> tuple[int, ...]:
        return () if self.over else (self.turn,)

    @property
    def scores(self) -> tuple[int, ...]:
        return self.totals

    def kept_by_side(self, seat: int) -> Hand:
        """Return the kept yaku that counts for a seat: its own or its teammate's."""
        if not self.form.teams:
            return self.kept[seat]
        return next((self.kept[s] for s in self.form.side(seat) if self.kept[s]), ())

    def reference(self, seat: int) -> Hand:
        """Return the cards of a seat's reference fields."""
        near, far = self.form.refers_to(seat)
        return self.fields[near] + self.fields[far]

    def offer(self, seat: int) -> GoingOut:
        """Return the cards with which a seat could go out."""
        kept = self.kept_by_side(seat)
        fields = self.reference(seat)
        return GoingOut(self.form.values, self.hands[seat], fields, kept, self.point_card)

    @property
    def needed(self) -> int:
        """Return the points required to go out."""
        return NEEDED_IN_TEAMS if self.form.teams else NEEDED

    def may_go_out(self, seat: int) -> bool:
        """Return whether a seat has the points required to go out."""
        return self.offer(seat).reaches(self.needed)

    def legal(self, seat: int) -> PoukuTurns:
        fields: tuple[Hand, ...] = ()
        if not self.kept_by_side(seat):
            fields = _with(self.fields, seat, ())
        may_go_out = partial(self.may_go_out, seat)
        return PoukuTurns(self.hands[seat], fields, self.form.teams, may_go_out)

    def scored(self, seat: int) -> tuple[int, int]:
        """Return the points for going out, and the score after doubling.

        The points include the bonus for the first turn.
        """
        first = all(turn.seat != seat for turn in self.turns)
        worth = self.offer(seat).worth() + (self.form.values.first_turn if first else 0)
        doubled = worth >= DOUBLED and not self.form.teams
        return worth, 2 * worth if doubled else worth

    def pays(self, seat: int) -> int:
        """Return a seat's payment when another one goes out; a team pays for its keep once."""
        form, kept = self.form, self.kept_by_side(seat)
        fields = self.reference(seat)
        return payment(form.values, form.seats, form.teams, fields, kept, self.point_card)

    def view(self, seat: int) -> PoukuView:
        acts = not self.over and seat == self.turn
        may_go_out = acts and self.may_go_out(seat)
        return self._seen(
            reference=self.form.refers_to(seat),
            hand=self.hands[seat],
            drawn=self.drawn if acts else "",
            worth=self.scored(seat)[1] if may_go_out else 0,
            may_keep=not self.kept_by_side(seat),
        )

    def public(self) -> PoukuView:
        return self._seen(reference=(), hand=(), drawn="", worth=0, may_keep=False)

    def _seen(
        self, reference: tuple[int, ...], hand: Hand, drawn: str, worth: int, may_keep: bool
    ) -> PoukuView:
        """Build a view from the public information and a seat's private fields."""
        values = self.form.values
        return PoukuView(
            pair=values.pair,
            three=values.three,
            straight=values.straight,
            four=values.four,
            point=values.point,
            four_yaku=values.four_yaku,
            first_turn=values.first_turn,
            teams=self.form.teams,
            reference=reference,
            deal=len(self.deals),
            dealer=self.dealer,
            turn=self.turn,
            point_card=self.point_card,
            hand=hand,
            drawn=drawn,
            worth=worth,
            fields=tuple(map(PoukuCards, self.fields)),
            kept=tuple(map(PoukuCards, self.kept)),
            may_keep=may_keep,
            stock=len(self.stock),
            hand_sizes=tuple(map(len, self.hands)),
            scores=self.totals,
            turns=self.turns,
            deals=self.deals,
            points=self.form.points,
        )

    def after(self, moves: Mapping[int, Action]) -> State:
        seat, action = self.turn, moves[self.turn]
        if isinstance(action, GoOut):
            return self._after_going_out(seat)
        to = seat if isinstance(action, Discard) else self.form.side(seat)[1]
        keep, card = action.keep, action.card
        fields, kept = self.fields, self.kept
        hand = tuple([c for c in self.hands[seat] if c != card and c not in keep])
        if keep:
            keep = in_order(keep)
            fields = tuple([tuple([c for c in field if c not in keep]) for field in fields])
            kept = _with(kept, seat, keep)
        changes: dict[str, object] = {
            "fields": _with(fields, to, (*fields[to], card)),
            "kept": kept,
            "turns": (*self.turns, PoukuTurn(seat, keep, card, to)),
        }
        hands = _with(self.hands, seat, hand)
        if not self.stock:
            state = self.but(hands=hands, **changes)
            return state._after_deal(_void(state))
        return self._drawing((seat + 1) % self.form.seats, hands, self.stock, changes)

    def _drawing(
        self, seat: int, hands: tuple[Hand, ...], stock: Hand, changes: Mapping[str, object]
    ) -> "PoukuState":
        """Begin the next turn: the seat draws a card."""
        card = stock[0]
        return self.but(
            turn=seat,
            drawn=card,
            stock=stock[1:],
            hands=_with(hands, seat, in_order((*hands[seat], card))),
            **changes,
        )

    def _after_going_out(self, seat: int) -> State:
        worth, scored = self.scored(seat)
        winners = self.form.side(seat)
        points = tuple(scored if s in winners else -self.pays(s) for s in range(self.form.seats))
        deal = PoukuDeal(
            dealer=self.dealer,
            point_card=self.point_card,
            void=False,
            winner=seat,
            hand=self.hands[seat],
            yaku=self.offer(seat).yaku(),
            worth=worth,
            points=points,
            fields=tuple(map(PoukuCards, self.fields)),
            turns=self.turns,
        )
        return self._after_deal(deal)

    def _after_deal(self, deal: PoukuDeal) -> State:
        totals = tuple(a + b for a, b in zip(self.totals, deal.points, strict=True))
        state = self.but(deals=(*self.deals, deal), totals=totals)
        if state.over:
            return state.but(drawn="")
        return state.dealt((self.dealer + 1) % self.form.seats)

    def dealt(self, dealer: int) -> "PoukuState":
        """Start the next deal (U-3)."""
        seats, size = self.form.seats, self.form.hand
        deck = self.luck.shuffled("deck", len(self.deals), DECK)
        fields_from = 1 + seats * size
        stock_from = fields_from + seats * FIELD
        hands = [deck[at : at + size] for at in range(1, fields_from, size)]
        fields = [deck[at : at + FIELD] for at in range(fields_from, stock_from, FIELD)]
        changes: dict[str, object] = {
            "dealer": dealer,
            "point_card": deck[0],
            "fields": tuple(fields),
            "kept": ((),) * seats,
            "turns": (),
        }
        return self._drawing(dealer, tuple(map(in_order, hands)), deck[stock_from:], changes)

    def redeal(self, seat: int | None, luck: Chance) -> "PoukuState":
        """Deal again the stock and the hands of the others, except a hand shown by going out."""
        known: set[int | None] = {seat}
        if self.over and not self.deals[-1].void:
            known.add(self.deals[-1].winner)
        others = [s for s in range(self.form.seats) if s not in known]
        unseen = in_order((*self.stock, *(c for s in others for c in self.hands[s])))
        pool = luck.shuffled("redeal", 0, unseen)
        hands, drawn = list(self.hands), self.drawn
        for s in others:
            size = len(hands[s])
            if s == self.turn and drawn:
                drawn = pool[0]
            hands[s], pool = in_order(pool[:size]), pool[size:]
        return self.but(luck=luck, hands=tuple(hands), drawn=drawn, stock=pool)

    def deal_unseen(self, luck: Chance) -> "PoukuState":
        """Shuffle the stock."""
        return self.but(luck=luck, stock=luck.shuffled("analysis", 0, sorted(self.stock)))

    def chance_since(self, before: State) -> Literal["", "early", "late"]:
        """Return whether cards were drawn."""
        assert isinstance(before, PoukuState)
        drawn = len(self.stock) != len(before.stock)
        return "early" if drawn else ""


def _with(by_seat: tuple[Hand, ...], seat: int, cards: Hand) -> tuple[Hand, ...]:
    return (*by_seat[:seat], cards, *by_seat[seat + 1 :])


def _void(state: PoukuState) -> PoukuDeal:
    return PoukuDeal(
        dealer=state.dealer,
        point_card=state.point_card,
        void=True,
        winner=0,
        hand=(),
        yaku=(),
        worth=0,
        points=(0,) * state.form.seats,
        fields=tuple(map(PoukuCards, state.fields)),
        turns=state.turns,
    )
