"""Positions of Saint Poker and their transitions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations
from random import Random
from typing import Literal

from referee.games.contract import Action, ActionArguments, LazyActions, Legal, State
from referee.games.saint_poker.actions import (
    PickUp,
    River,
    SaintPokerCards,
    SaintPokerPicked,
    SaintPokerRound,
    SaintPokerView,
    Show,
)
from referee.games.shared.cards import Card, Hand, in_order
from referee.games.shared.choices import choices
from referee.games.shared.dealing import Chance
from referee.games.shared.fast_values import fast_value
from referee.games.shared.poker import best_hand

# Legal actions of Saint Poker (docs/rules/saint_poker.md).

_river = cache(River)
_show = cache(Show)
_pick_up = cache(PickUp)
_picked = cache(SaintPokerPicked)
ROUNDS = 8
LATE_ROUND = 5
"""First of the late rounds, whose luck is estimated separately."""
_SEATS = tuple(tuple(range(seats)) for seats in range(6))
FUTURE = {2: 3, 3: 2, 4: 1, 5: 0}
"""Number of cards in the future river, by the number of seats."""


@dataclass(slots=True)
class LegalRivers(LazyActions):
    """One card of the hand for the river; lowest first."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, River) and action.card in self.hand

    def by_constructor(self) -> ActionArguments:
        yield River, self.hand

    def any(self, chance: Random) -> Action:
        return _river(chance.choice(self.hand))


@dataclass(slots=True)
class LegalShows(LazyActions):
    """Two cards of the hand; lowest first."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, Show) or len(action.cards) != 2:
            return False
        first, second = action.cards
        return first != second and first in self.hand and second in self.hand

    def by_constructor(self) -> ActionArguments:
        yield Show, combinations(self.hand, 2)

    def any(self, chance: Random) -> Action:
        return _show(chance.choice(choices(len(self.hand), 2))(self.hand))


@dataclass(slots=True)
class LegalPickUps(LazyActions):
    """One of the cards on the table; lowest first."""

    lying: Hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, PickUp) and action.card in self.lying

    def by_constructor(self) -> ActionArguments:
        yield PickUp, in_order(self.lying)

    def any(self, chance: Random) -> Action:
        return _pick_up(chance.choice(in_order(self.lying)))


@lru_cache(1 << 10)
def _groups(cards: tuple[Hand, ...]) -> tuple[SaintPokerCards, ...]:
    """Return groups of cards; the same object for the views of all seats, so it is encoded once."""
    return tuple(map(SaintPokerCards, cards))


def _without(hands: tuple[Hand, ...], cards: tuple[Hand, ...]) -> tuple[Hand, ...]:
    return tuple(
        [
            tuple([c for c in held if c not in gone]) if held else held
            for held, gone in zip(hands, cards, strict=True)
        ]
    )


@fast_value
@dataclass(frozen=True, slots=True)
class SaintPokerState(State):
    """A position: the current round and the finished ones."""

    luck: Chance
    rounds: tuple[SaintPokerRound, ...]
    points: tuple[int, ...]
    phase: str
    """ "river", "show", "pick_up", or "over" """
    stock: Hand
    future: Hand
    river: Hand
    hands: tuple[Hand, ...]
    known: tuple[Hand, ...]
    """Cards of each hand that were picked up in public."""
    shown: tuple[Hand, ...]
    order: tuple[int, ...]
    picked: tuple[SaintPokerPicked, ...]
    lying: Hand
    """The cards of the river and of the shown pairs that have not been picked up, in this order."""

    @property
    def round(self) -> int:
        """Return the number of the round, 1 to 8, which is also its value in points."""
        return len(self.rounds) + 1

    @property
    def seats(self) -> int:
        """Return the number of seats."""
        return len(self.hands)

    @property
    def scores(self) -> tuple[int, ...]:
        return self.points

    @property
    def actors(self) -> tuple[int, ...]:
        if self.phase == "over":
            return ()
        if self.phase == "pick_up":
            return (self.order[-1 - len(self.picked) % len(self.hands)],)
        return _SEATS[len(self.hands)]

    def legal(self, seat: int) -> Legal:
        if self.phase == "river":
            return LegalRivers(self.hands[seat])
        if self.phase == "show":
            return LegalShows(self.hands[seat])
        return LegalPickUps(self.lying)

    def view(self, seat: int) -> SaintPokerView:
        return self._seen(self.hands[seat])

    def public(self) -> SaintPokerView:
        return self._seen(())

    def _seen(self, hand: Hand) -> SaintPokerView:
        """Build a view from the public information and a hand."""
        return SaintPokerView(
            round=self.round,
            phase=self.phase,
            hand=hand,
            river=self.river,
            future=self.future,
            shown=_groups(self.shown),
            order=self.order,
            picked=self.picked,
            scores=self.points,
            hand_sizes=tuple(map(len, self.hands)),
            known=_groups(self.known),
            rounds=self.rounds,
        )

    def after(self, moves: Mapping[int, Action]) -> State:
        if self.phase == "pick_up":
            ((seat, action),) = moves.items()
            return self._after_pick_up(seat, action.card)
        if self.phase == "show":
            return self._after_show(tuple([in_order(moves[s].cards) for s in range(self.seats)]))
        added = tuple([moves[s].card for s in range(self.seats)])
        gone = tuple(zip(added))
        river = self.river + added
        return self.but(
            phase="show",
            river=river,
            lying=river,
            hands=_without(self.hands, gone),
            known=_without(self.known, gone),
        )

    def _after_show(self, shown: tuple[Hand, ...]) -> State:
        """Rank the hands and score the round; a random permutation breaks ties."""
        values = [best_hand(self.river + pair) for pair in shown]
        number, seats = self.round, range(self.seats)
        tied = len(set(values)) < len(values)
        earlier = self.luck.shuffled("ties", number, seats) if tied else seats
        # stable, so ties keep the order of the permutation
        best_first = sorted(earlier, key=values.__getitem__, reverse=True)
        points = list(self.points)
        points[best_first[0]] += number
        return self.but(
            phase="over" if number == ROUNDS else "pick_up",
            shown=shown,
            hands=_without(self.hands, shown),
            known=_without(self.known, shown),
            order=tuple(best_first),
            points=tuple(points),
            lying=tuple(chain(self.river, *shown)),
        )

    def _after_pick_up(self, seat: int, card: Card) -> State:
        hands, known = list(self.hands), list(self.known)
        hands[seat] = in_order((*hands[seat], card))
        known[seat] = in_order((*known[seat], card))
        picked = (*self.picked, _picked(seat, card))
        place = self.lying.index(card)
        lying = self.lying[:place] + self.lying[place + 1 :]
        if len(picked) == 2 * len(hands):
            return self._next_round(tuple(hands), tuple(known), picked, lying)
        return self.but(hands=tuple(hands), known=tuple(known), picked=picked, lying=lying)

    def _next_round(
        self,
        hands: tuple[Hand, ...],
        known: tuple[Hand, ...],
        picked: tuple[SaintPokerPicked, ...],
        discards: Hand,
    ) -> "SaintPokerState":
        done = SaintPokerRound(self.river, _groups(self.shown), self.order, picked, discards)
        turned = FUTURE[self.seats]
        return self.but(
            rounds=(*self.rounds, done),
            phase="river",
            river=self.future,
            future=self.stock[:turned],
            stock=self.stock[turned:],
            hands=hands,
            known=known,
            shown=(),
            order=(),
            picked=(),
            lying=self.future,
        )

    def redeal(self, seat: int | None, luck: Chance) -> "SaintPokerState":
        """Deal again the stock and the cards of other hands that were not picked up in public."""
        others = [s for s in range(self.seats) if s != seat]
        hidden = {s: tuple(c for c in self.hands[s] if c not in self.known[s]) for s in others}
        unseen = in_order((*self.stock, *(c for s in others for c in hidden[s])))
        pool = luck.shuffled("redeal", 0, unseen)
        hands = list(self.hands)
        for s in others:
            size = len(hidden[s])
            hands[s] = in_order((*self.known[s], *pool[:size]))
            pool = pool[size:]
        return self.but(luck=luck, hands=tuple(hands), stock=pool)

    def deal_unseen(self, luck: Chance) -> "SaintPokerState":
        """Shuffle the stock."""
        return self.but(luck=luck, stock=luck.shuffled("analysis", 0, sorted(self.stock)))

    def chance_since(self, before: State) -> Literal["", "early", "late"]:
        """Return whether cards were drawn."""
        assert isinstance(before, SaintPokerState)
        drawn = len(self.stock) != len(before.stock)
        if not drawn:
            return ""
        return "late" if self.round >= LATE_ROUND else "early"
