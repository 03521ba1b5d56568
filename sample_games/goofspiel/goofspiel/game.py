"""Rules of Goofspiel (goofspiel.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from referee.games.contract import Action, Game, Legal, Option, Options, State
from referee.games.shared.cards import RANK, Card
from referee.games.shared.dealing import Chance

Hand = tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Bid:
    """Bid a card of the hand."""

    card: str


@dataclass(frozen=True, slots=True)
class GoofspielCards:
    """A few cards."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class GoofspielRound:
    """A round that is over."""

    prizes: Hand
    bids: Hand


@dataclass(frozen=True, slots=True)
class GoofspielView:
    """The view of a seat. For a spectator, the hand is empty."""

    hand: Hand
    left: tuple[GoofspielCards, ...]
    """The cards that each seat can still bid, by seat."""
    prizes: Hand
    """The prizes to be won now."""
    stock: int
    """Number of prizes face down."""
    carry: bool
    scores: tuple[int, ...]
    rounds: tuple[GoofspielRound, ...]


class Bids(Legal):
    """The cards of a hand, the lowest first."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand

    def __contains__(self, action: object) -> bool:
        return isinstance(action, Bid) and action.card in self.hand

    def __iter__(self) -> Iterator[Action]:
        return (Bid(card) for card in self.hand)


def suit(name: str) -> Hand:
    return tuple(Card(f"{rank}{name}") for rank in "234567")


@dataclass(frozen=True)
class GoofspielState(State):
    """A position."""

    hands: tuple[Hand, ...]
    prizes: Hand
    """The prizes to be won now."""
    stock: Hand
    carry: bool
    points: tuple[int, ...]
    rounds: tuple[GoofspielRound, ...]

    @property
    def actors(self) -> tuple[int, ...]:
        return tuple(range(len(self.hands))) if self.hands[0] else ()

    @property
    def scores(self) -> tuple[int, ...]:
        return self.points

    def legal(self, seat: int) -> Legal:
        return Bids(self.hands[seat])

    def view(self, seat: int) -> GoofspielView:
        return self._seen(self.hands[seat])

    def public(self) -> GoofspielView:
        return self._seen(())

    def _seen(self, hand: Hand) -> GoofspielView:
        left = tuple(map(GoofspielCards, self.hands))
        stock = len(self.stock)
        return GoofspielView(hand, left, self.prizes, stock, self.carry, self.points, self.rounds)

    def after(self, moves: Mapping[int, Action]) -> State:
        bids = tuple(moves[seat].card for seat in self.actors)
        ranks = [RANK[bid] for bid in bids]
        won = ranks.count(max(ranks)) == 1
        points = list(self.points)
        if won:
            points[ranks.index(max(ranks))] += sum(RANK[prize] for prize in self.prizes)
        carried = self.prizes if self.carry and not won else ()
        return self.but(
            hands=tuple(
                tuple(card for card in hand if card != bid)
                for hand, bid in zip(self.hands, bids, strict=True)
            ),
            prizes=(*carried, *self.stock[:1]) if self.stock else (),
            stock=self.stock[1:],
            points=tuple(points),
            rounds=(*self.rounds, GoofspielRound(self.prizes, bids)),
        )

    def redeal(self, seat: int | None, luck: Chance) -> "GoofspielState":
        return self.but(stock=luck.shuffled("redeal", 0, tuple(sorted(self.stock))))


class Goofspiel(Game):
    """Goofspiel: all seats bid for a prize at the same time."""

    id = "goofspiel"
    title = "Goofspiel"
    seats = (2, 3)
    options: ClassVar[Mapping[str, Option]] = {
        "carry": Option(False, "A prize that nobody wins is added to the next one."),
    }
    view_type = GoofspielView
    action_types = (Bid,)
    presentation = "goofspiel.presentation:GoofspielPresentation"

    def _start(self, luck: Chance, seats: int, options: Options) -> GoofspielState:
        prizes = luck.shuffled("prizes", 0, suit("D"))
        hands = tuple(suit(name) for name in "CHS"[:seats])
        carry = bool(options["carry"])
        return GoofspielState(hands, prizes[:1], prizes[1:], carry, (0,) * seats, ())

    def from_view(
        self, view: Any, seat: int | None, options: Options, luck: Chance
    ) -> GoofspielState:
        hands = tuple(pile.cards for pile in view.left)
        known = {*view.prizes, *(prize for done in view.rounds for prize in done.prizes)}
        stock = tuple(prize for prize in suit("D") if prize not in known)
        state = GoofspielState(hands, view.prizes, stock, view.carry, view.scores, view.rounds)
        return state.redeal(seat, luck)
