"""Saint Poker (docs/rules/saint_poker.md): eight rounds of hold'em without betting."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from referee.cards import DECK, Card, in_order
from referee.dealing import Luck
from referee.games.contract import Action, Game, Legal, Option, Options, State
from referee.poker import best_hand

Hand = tuple[Card, ...]

ROUNDS = 8
HAND = 10
FUTURE = {2: 3, 3: 2, 4: 1, 5: 0}
"""Cards of the future river, by the number of seats."""


@dataclass(frozen=True, slots=True)
class River:
    """Adds a card of the hand to the river."""

    card: Card


@dataclass(frozen=True, slots=True)
class Show:
    """Shows two cards of the hand."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PickUp:
    """Takes a card that lies on the table."""

    card: Card


@dataclass(frozen=True, slots=True)
class SaintPokerCards:
    """A few cards."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class SaintPokerPicked:
    """A card that a seat picked up."""

    seat: int
    card: Card


@dataclass(frozen=True, slots=True)
class SaintPokerRound:
    """A round that is over; seats in order from the best hand to the worst."""

    river: Hand
    shown: tuple[SaintPokerCards, ...]
    order: tuple[int, ...]
    picked: tuple[SaintPokerPicked, ...]
    discards: Hand


@dataclass(frozen=True, slots=True)
class SaintPokerView:
    """What a seat sees; the fields are explained in saint_poker.proto."""

    round: int
    phase: str
    hand: Hand
    river: Hand
    future: Hand
    shown: tuple[SaintPokerCards, ...]
    order: tuple[int, ...]
    picked: tuple[SaintPokerPicked, ...]
    scores: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    known: tuple[SaintPokerCards, ...]
    rounds: tuple[SaintPokerRound, ...]


@dataclass(frozen=True, slots=True)
class Rivers(Legal):
    """One card of the hand for the river; the lowest first."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, River) and action.card in self.hand

    def __iter__(self) -> Iterator[Action]:
        return map(River, self.hand)


@dataclass(frozen=True, slots=True)
class Shows(Legal):
    """Two cards of the hand; the lowest first."""

    hand: Hand

    def __contains__(self, action: object) -> bool:
        match action:
            case Show(cards):
                return len(cards) == 2 == len(set(cards)) and all(c in self.hand for c in cards)
        return False

    def __iter__(self) -> Iterator[Action]:
        return map(Show, combinations(self.hand, 2))


@dataclass(frozen=True, slots=True)
class PickUps(Legal):
    """One of the cards that lie on the table; the lowest first."""

    lying: Hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, PickUp) and action.card in self.lying

    def __iter__(self) -> Iterator[Action]:
        return map(PickUp, in_order(self.lying))


@dataclass(frozen=True)
class SaintPokerState(State):
    """A position: the round that is being played and those before it."""

    luck: Luck
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
        """The round, 1 to 8; also what it is worth."""
        return len(self.rounds) + 1

    @property
    def seats(self) -> int:
        """How many play."""
        return len(self.hands)

    @property
    def scores(self) -> tuple[int, ...]:
        return self.points

    @property
    def actors(self) -> tuple[int, ...]:
        if self.phase == "over":
            return ()
        if self.phase == "pick_up":
            worst_first = self.order[::-1]
            return (worst_first[len(self.picked) % self.seats],)
        return tuple(range(self.seats))

    @property
    def lying(self) -> Hand:
        """The cards on the table that nobody has picked up yet."""
        gone = {picked.card for picked in self.picked}
        table = (*self.river, *(c for pair in self.shown for c in pair))
        return tuple(c for c in table if c not in gone)

    def legal(self, seat: int) -> Legal:
        if self.phase == "river":
            return Rivers(self.hands[seat])
        if self.phase == "show":
            return Shows(self.hands[seat])
        return PickUps(self.lying)

    def view(self, seat: int) -> SaintPokerView:
        return SaintPokerView(
            round=self.round,
            phase=self.phase,
            hand=self.hands[seat],
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
            cards: tuple[Hand, ...] = tuple((moves[s].card,) for s in range(self.seats))
            added = tuple(c for (c,) in cards)
            return self._played(cards).but(phase="show", river=self.river + added)
        if self.phase == "show":
            pairs = tuple(in_order(moves[s].cards) for s in range(self.seats))
            return self._played(pairs).but(shown=pairs)._compared()
        ((seat, action),) = moves.items()
        return self._after_pick_up(seat, action.card)

    def _played(self, cards: tuple[Hand, ...]) -> "SaintPokerState":
        """The same with these cards gone from the hands, by seat."""
        hands, known = (
            tuple(
                tuple(c for c in held if c not in gone)
                for held, gone in zip(by_seat, cards, strict=True)
            )
            for by_seat in (self.hands, self.known)
        )
        return self.but(hands=hands, known=known)

    def _compared(self) -> State:
        """Puts the hands in order and scores the round; ties as the permutation has them."""
        values = [best_hand(self.river + pair) for pair in self.shown]
        earlier = self.luck.shuffled("ties", self.round, range(self.seats))
        best_first = sorted(earlier, key=lambda seat: values[seat], reverse=True)  # stable
        first = best_first[0]
        points = tuple(
            score + self.round if seat == first else score for seat, score in enumerate(self.points)
        )
        phase = "over" if self.round == ROUNDS else "pick_up"
        return self.but(phase=phase, order=tuple(best_first), points=points)

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

    def redeal(self, seat: int, luck: Luck) -> "SaintPokerState":
        """Deals again the stock and what nobody saw the others pick up."""
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


class SaintPoker(Game):
    """The game for the registry."""

    id = "saint_poker"
    title = "Saint Poker"
    seats = (2, 3, 4, 5)
    options: ClassVar[Mapping[str, Option]] = {}
    view_type = SaintPokerView
    action_types = (River, Show, PickUp)

    def _start(self, luck: Luck, seats: int, options: Options) -> SaintPokerState:
        deck = luck.shuffled("deck", 0, DECK)
        dealt, turned = HAND * seats, FUTURE[seats]
        return SaintPokerState(
            luck=luck,
            rounds=(),
            points=(0,) * seats,
            phase="river",
            river=deck[dealt : dealt + turned],
            future=deck[dealt + turned : dealt + 2 * turned],
            stock=deck[dealt + 2 * turned :],
            hands=tuple(in_order(deck[HAND * s : HAND * (s + 1)]) for s in range(seats)),
            known=((),) * seats,
            shown=(),
            order=(),
            picked=(),
        )
