"""Positions of Saint Poker and their transitions."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from random import Random

from referee.games.contract import Action, LazyActions, Legal, State, Words
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
from referee.games.shared.dealing import Chance
from referee.games.shared.poker import best_hand

# Legal actions of Saint Poker (docs/rules/saint_poker.md).


@dataclass(frozen=True, slots=True)
class LegalRivers(LazyActions):
    """One card of the hand for the river; lowest first."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, River) and action.card in self.hand

    def words(self) -> Words:
        yield River, zip(self.hand)

    def any(self, chance: Random) -> Action:
        return River(chance.choice(self.hand))


@dataclass(frozen=True, slots=True)
class LegalShows(LazyActions):
    """Two cards of the hand; lowest first."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        match action:
            case Show(cards):
                return len(cards) == 2 == len(set(cards)) and all(c in self.hand for c in cards)
        return False

    def words(self) -> Words:
        yield Show, zip(combinations(self.hand, 2))

    def any(self, chance: Random) -> Action:
        return Show(chance.choice(list(combinations(self.hand, 2))))


@dataclass(frozen=True, slots=True)
class LegalPickUps(LazyActions):
    """One of the cards on the table; lowest first."""

    lying: Hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, PickUp) and action.card in self.lying

    def words(self) -> Words:
        yield PickUp, zip(in_order(self.lying))

    def any(self, chance: Random) -> Action:
        return PickUp(chance.choice(in_order(self.lying)))


ROUNDS = 8
FUTURE = {2: 3, 3: 2, 4: 1, 5: 0}
"""Number of cards in the future river, by the number of seats."""


@dataclass(frozen=True)
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
        return tuple(range(len(self.hands)))

    @property
    def lying(self) -> Hand:
        """Return the cards on the table that have not been picked up."""
        gone = [picked.card for picked in self.picked]
        table = chain(self.river, *self.shown)
        return tuple([c for c in table if c not in gone])

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
            shown=tuple(map(SaintPokerCards, self.shown)),
            order=self.order,
            picked=self.picked,
            scores=self.points,
            hand_sizes=tuple(map(len, self.hands)),
            known=tuple(map(SaintPokerCards, self.known)),
            rounds=self.rounds,
        )

    def after(self, moves: Mapping[int, Action]) -> State:
        if self.phase == "river":
            added = tuple([moves[s].card for s in range(self.seats)])
            return self._played(tuple(zip(added))).but(phase="show", river=self.river + added)
        if self.phase == "show":
            pairs = tuple([in_order(moves[s].cards) for s in range(self.seats)])
            return self._played(pairs).but(shown=pairs)._compared()
        ((seat, action),) = moves.items()
        return self._after_pick_up(seat, action.card)

    def _played(self, cards: tuple[Hand, ...]) -> "SaintPokerState":
        """Return the position without these cards in the hands, by seat."""
        hands, known = (
            tuple(
                [
                    tuple([c for c in held if c not in gone])
                    for held, gone in zip(by_seat, cards, strict=True)
                ]
            )
            for by_seat in (self.hands, self.known)
        )
        return self.but(hands=hands, known=known)

    def _compared(self) -> State:
        """Rank the hands and score the round; a random permutation breaks ties."""
        values = [best_hand(self.river + pair) for pair in self.shown]
        number, seats = self.round, range(self.seats)
        tied = len(set(values)) < len(values)
        earlier = self.luck.shuffled("ties", number, seats) if tied else seats
        # stable, so ties keep the order of the permutation
        best_first = sorted(earlier, key=values.__getitem__, reverse=True)
        points = list(self.points)
        points[best_first[0]] += number
        phase = "over" if number == ROUNDS else "pick_up"
        return self.but(phase=phase, order=tuple(best_first), points=tuple(points))

    def _after_pick_up(self, seat: int, card: Card) -> State:
        hands, known = list(self.hands), list(self.known)
        hands[seat] = in_order((*hands[seat], card))
        known[seat] = in_order((*known[seat], card))
        state = self.but(
            hands=tuple(hands),
            known=tuple(known),
            picked=(*self.picked, SaintPokerPicked(seat, card)),
        )
        return state if len(state.picked) < 2 * self.seats else state._next_round()

    def _next_round(self) -> "SaintPokerState":
        done = SaintPokerRound(
            self.river, tuple(map(SaintPokerCards, self.shown)), self.order, self.picked, self.lying
        )
        turned = FUTURE[self.seats]
        return self.but(
            rounds=(*self.rounds, done),
            phase="river",
            river=self.future,
            future=self.stock[:turned],
            stock=self.stock[turned:],
            shown=(),
            order=(),
            picked=(),
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
