"""High Card (high_card.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from referee.games.contract import Action, Game, Legal, Options, State
from referee.games.shared.cards import DECK, RANK, Card, in_order
from referee.games.shared.dealing import Chance

HAND = 3

Hand = tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Play:
    """Play a card of the hand."""

    card: str


@dataclass(frozen=True, slots=True)
class HighCardView:
    """The view of a seat. For a spectator, the hand is empty."""

    hand: Hand
    hand_sizes: tuple[int, ...]
    """Cards in hand, by seat."""
    led: str
    """The card that was led and is not answered; empty if there is none."""
    played: Hand
    """The cards played before: a lead, its answer, the next lead, and so on."""
    scores: tuple[int, ...]


class Plays(Legal):
    """The cards of a hand."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, Play) and action.card in self.hand

    def __iter__(self) -> Iterator[Action]:
        return (Play(card) for card in self.hand)


@dataclass(frozen=True)
class HighCardState(State):
    """A position."""

    hands: tuple[Hand, ...]
    stock: Hand
    led: str
    played: Hand
    points: tuple[int, ...]

    @property
    def actors(self) -> tuple[int, ...]:
        over = not any(self.hands)
        return () if over else (1 if self.led else 0,)

    @property
    def scores(self) -> tuple[int, ...]:
        return self.points

    def legal(self, seat: int) -> Legal:
        return Plays(self.hands[seat])

    def view(self, seat: int) -> HighCardView:
        return self._seen(self.hands[seat])

    def public(self) -> HighCardView:
        return self._seen(())

    def _seen(self, hand: Hand) -> HighCardView:
        sizes = tuple(map(len, self.hands))
        return HighCardView(hand, sizes, self.led, self.played, self.points)

    def after(self, moves: Mapping[int, Action]) -> State:
        ((seat, action),) = moves.items()
        hands = list(self.hands)
        hands[seat] = tuple(card for card in hands[seat] if card != action.card)
        if not self.led:
            return self.but(hands=tuple(hands), led=action.card)
        points = list(self.points)
        led = Card(self.led)
        if RANK[led] != RANK[action.card]:
            points[RANK[action.card] > RANK[led]] += 1
        played = (*self.played, led, action.card)
        return self.but(hands=tuple(hands), led="", played=played, points=tuple(points))

    def redeal(self, seat: int | None, luck: Chance) -> "HighCardState":
        hidden = [number for number in range(len(self.hands)) if number != seat]
        unseen = in_order((*self.stock, *(card for other in hidden for card in self.hands[other])))
        pool = luck.shuffled("redeal", 0, unseen)
        hands = list(self.hands)
        for other in hidden:
            size = len(hands[other])
            hands[other], pool = in_order(pool[:size]), pool[size:]
        return self.but(hands=tuple(hands), stock=pool)


class HighCard(Game):
    """High Card: the higher card scores."""

    id = "high_card"
    title = "High Card"
    seats = (2,)
    view_type = HighCardView
    action_types = (Play,)
    presentation = "high_card.presentation:HighCardPresentation"

    def _start(self, luck: Chance, seats: int, options: Options) -> HighCardState:
        deck = luck.shuffled("deck", 0, DECK)
        hands = tuple(in_order(deck[HAND * seat : HAND * (seat + 1)]) for seat in range(seats))
        return HighCardState(hands, deck[HAND * seats :], "", (), (0,) * seats)

    def from_view(
        self, view: Any, seat: int | None, options: Options, luck: Chance
    ) -> HighCardState:
        known = {*view.hand, *view.played, view.led}
        unseen = tuple(card for card in DECK if card not in known)
        hands: list[Hand] = []
        for other, size in enumerate(view.hand_sizes):
            hands.append(view.hand if other == seat else unseen[:size])
            unseen = unseen if other == seat else unseen[size:]
        state = HighCardState(tuple(hands), unseen, view.led, view.played, view.scores)
        return state.redeal(seat, luck)
