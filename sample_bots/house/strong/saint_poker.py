"""How Saint Poker is searched: to the end of the game, by who has more points then."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from plan import Position

from referee.cards import RANK, SUIT, Card
from referee.games.contract import Action
from referee.games.saint_poker.state import SaintPokerState
from referee.games.saint_poker.words import PickUp, River, Show
from referee.poker import HandValue, best_hand

Hand = tuple[Card, ...]

CLOSE = 6.0
"""A lead that decides most of a game."""
SAVING = 4
"""Up to this round the policy plays what it needs least."""
PAIR_WORTH = 12
"""What a card is worth more for every other one of its rank, in ranks."""
THOUGHTS = 6
"""How many cards are worth a thought."""


class SaintPokerPlan:
    """What the search is told about Saint Poker."""

    def playouts(self, state: SaintPokerState) -> int:
        """Fewer where a playout is longer."""
        return 80 if state.round > SAVING else 40

    def candidates(self, state: SaintPokerState, seat: int) -> list[Action]:
        hand = state.hands[seat]
        if state.phase == "river":
            return [River(c) for c in _needed_least(hand)[:THOUGHTS]]
        if state.phase == "pick_up":
            gain = _gains(hand, state.future, state.lying)
            return [
                PickUp(c) for c in sorted(state.lying, key=gain.__getitem__)[: -THOUGHTS - 1 : -1]
            ]
        first = self.move(state, seat)
        return [
            first,
            *(Show(pair) for pair in _worth_showing(state.river, hand) if pair != first.cards),
        ]

    def move(self, state: SaintPokerState, seat: int) -> Action:
        hand = state.hands[seat]
        if state.phase == "river":
            return River(_needed_least(hand)[0])
        if state.phase == "show":
            if state.round > SAVING:
                return Show(_best_pair(state.river, hand))
            return Show(tuple(_needed_least(hand)[:2]))
        gain = _gains(hand, state.future, state.lying)
        return PickUp(max(state.lying, key=gain.__getitem__))

    def over(self, root: SaintPokerState, state: SaintPokerState) -> bool:
        return False

    def value(self, at: Position, state: SaintPokerState) -> float:
        return at.against(state.points, CLOSE)


def _worth(hand: Iterable[Card]) -> dict[Card, int]:
    """What each card of a hand is worth beside the others."""
    cards = list(hand)
    ranks = Counter(RANK[c] for c in cards)
    suits = Counter(SUIT[c] for c in cards)
    return {c: RANK[c] + PAIR_WORTH * ranks[RANK[c]] + suits[SUIT[c]] for c in cards}


def _needed_least(hand: Hand) -> list[Card]:
    worth = _worth(hand)
    return sorted(hand, key=worth.__getitem__)


def _gains(hand: Hand, future: Hand, lying: Hand) -> dict[Card, int]:
    """What each card that lies there is worth beside the hand and what comes next."""
    ranks = Counter(RANK[c] for c in (*hand, *future))
    suits = Counter(SUIT[c] for c in (*hand, *future))
    return {c: RANK[c] + PAIR_WORTH * ranks[RANK[c]] + suits[SUIT[c]] for c in lying}


def _best_pair(river: Hand, hand: Hand) -> Hand:
    return max(combinations(hand, 2), key=lambda pair: best_hand(river + pair))


def _worth_showing(river: Hand, hand: Hand) -> list[Hand]:
    """The pairs of cards that are stronger than all that are needed less."""
    worth = _worth(hand)
    pairs = sorted(combinations(hand, 2), key=lambda pair: worth[pair[0]] + worth[pair[1]])
    found: list[Hand] = []
    strongest: HandValue | None = None
    for pair in pairs:
        value = best_hand(river + pair)
        if strongest is None or value > strongest:
            strongest = value
            found.append(pair)
    return found
