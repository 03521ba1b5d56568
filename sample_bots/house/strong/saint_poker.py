"""Search of Saint Poker: to the end of the game, rated by the points."""

from itertools import combinations

from plan import Position

from referee.games.contract import Action
from referee.games.saint_poker.actions import PickUp, River, Show
from referee.games.saint_poker.state import SaintPokerState
from referee.games.shared.cards import RANK, Card
from referee.games.shared.poker import HandValue, best_hand

Hand = tuple[Card, ...]

CLOSE = 6.0
"""A lead that nearly decides a game."""
SAVING = 4
"""Up to this round, the policy plays the least useful cards."""
PAIR_WORTH = 12
"""Additional value of a card for each other card of its rank, in ranks; for its suit: 1."""
THOUGHTS = 5
"""Number of cards that are searched."""


class SaintPokerPlan:
    """Search plan of Saint Poker."""

    def playouts(self, state: SaintPokerState) -> int:
        """Return fewer if a playout is longer."""
        return (180 if state.round > SAVING else 90) // state.seats

    def candidates(self, state: SaintPokerState, seat: int) -> list[Action]:
        hand = state.hands[seat]
        if state.phase == "river":
            return [River(c) for c in _needed_least(hand)[:THOUGHTS]]
        if state.phase == "pick_up":
            return [PickUp(c) for c in _most_wanted(state, hand)[:THOUGHTS]]
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
        return PickUp(_most_wanted(state, hand)[0])

    def over(self, root: SaintPokerState, state: SaintPokerState) -> bool:
        return False

    def value(self, at: Position, state: SaintPokerState) -> float:
        return at.against(state.points, CLOSE)


def _worth(hand: Hand) -> dict[Card, int]:
    """Return the value of each card of a hand among the others."""
    text = "".join(hand)
    return {c: RANK[c] + PAIR_WORTH * text.count(c[0]) + text.count(c[1]) for c in hand}


def _needed_least(hand: Hand) -> list[Card]:
    return sorted(hand, key=_worth(hand).__getitem__)


def _most_wanted(state: SaintPokerState, hand: Hand) -> list[Card]:
    """Return the cards to pick up, the best fit to the hand and to the next river first."""
    text = "".join(hand + state.future)
    return sorted(
        state.lying,
        key=lambda c: RANK[c] + PAIR_WORTH * text.count(c[0]) + text.count(c[1]),
        reverse=True,
    )


def _best_pair(river: Hand, hand: Hand) -> Hand:
    return max(combinations(hand, 2), key=lambda pair: best_hand(river + pair))


def _worth_showing(river: Hand, hand: Hand) -> list[Hand]:
    """Return the pairs of cards that are stronger than all less useful pairs."""
    worth = _worth(hand)
    pairs = sorted(combinations(hand, 2), key=lambda pair: worth[pair[0]] + worth[pair[1]])
    stronger: list[Hand] = []
    strongest: HandValue | None = None
    for pair in pairs:
        value = best_hand(river + pair)
        if strongest is None or value > strongest:
            strongest = value
            stronger.append(pair)
    return stronger
