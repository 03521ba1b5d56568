"""Search of Saint Poker: to the end of the game, rated by the points."""

from itertools import combinations

from plan import Position

from referee.games.contract import Action
from referee.games.saint_poker.actions import PickUp, River, Show
from referee.games.saint_poker.state import SaintPokerState
from referee.games.shared.cards import RANK, Card
from referee.games.shared.poker import HandValue, best_hand

Hand = tuple[Card, ...]

DECISIVE_LEAD = 6.0
"""A lead in points that nearly decides a game."""
LAST_SAVING_ROUND = 4
"""Up to this round, the policy plays the least useful cards."""
EARLY_PLAYOUTS, LATE_PLAYOUTS = 90, 180
"""Playouts of a decision up to that round and after it, divided by the number of seats."""
PAIR_USEFULNESS = 12
"""Usefulness of a card for each other card of its rank, in ranks; for its suit: 1."""
MAX_SEARCHED_CARDS = 5
"""Cards that are searched for the river or a pick-up, at most."""


class SaintPokerPlan:
    """Search plan of Saint Poker."""

    analysis_playouts = 26_000

    def playouts(self, state: SaintPokerState) -> int:
        """Return fewer if a playout is longer."""
        is_late = state.round > LAST_SAVING_ROUND
        return (LATE_PLAYOUTS if is_late else EARLY_PLAYOUTS) // state.seats

    def candidates(self, state: SaintPokerState, seat: int) -> list[Action]:
        hand = state.hands[seat]
        if state.phase == "river":
            return [River(card) for card in _least_useful(hand)[:MAX_SEARCHED_CARDS]]
        if state.phase == "pick_up":
            return [PickUp(card) for card in _best_pick_ups(state, hand)[:MAX_SEARCHED_CARDS]]
        usual = self.move(state, seat)
        pairs = _pairs_worth_showing(state.river, hand)
        return [usual, *(Show(pair) for pair in pairs if pair != usual.cards)]

    def move(self, state: SaintPokerState, seat: int) -> Action:
        hand = state.hands[seat]
        if state.phase == "river":
            return River(_least_useful(hand)[0])
        if state.phase == "show":
            if state.round > LAST_SAVING_ROUND:
                return Show(_best_pair(state.river, hand))
            return Show(tuple(_least_useful(hand)[:2]))
        return PickUp(_best_pick_ups(state, hand)[0])

    def over(self, root: SaintPokerState, state: SaintPokerState) -> bool:
        return False

    def value(self, at: Position, state: SaintPokerState) -> float:
        return at.rating(state.points, DECISIVE_LEAD)


def _usefulness(card: Card, text: str) -> int:
    """Return how useful a card is among others, which are joined to a text."""
    return RANK[card] + PAIR_USEFULNESS * text.count(card[0]) + text.count(card[1])


def _usefulness_by_card(hand: Hand) -> dict[Card, int]:
    text = "".join(hand)
    return {card: _usefulness(card, text) for card in hand}


def _least_useful(hand: Hand) -> list[Card]:
    """Return the cards of a hand, the least useful first."""
    return sorted(hand, key=_usefulness_by_card(hand).__getitem__)


def _best_pick_ups(state: SaintPokerState, hand: Hand) -> list[Card]:
    """Return the cards to pick up, the best fit to the hand and to the next river first."""
    text = "".join(hand + state.future)
    return sorted(state.lying, key=lambda card: _usefulness(card, text), reverse=True)


def _best_pair(river: Hand, hand: Hand) -> Hand:
    return max(combinations(hand, 2), key=lambda pair: best_hand(river + pair))


def _pairs_worth_showing(river: Hand, hand: Hand) -> list[Hand]:
    """Return the pairs of cards that are stronger than all less useful pairs."""
    usefulness = _usefulness_by_card(hand)
    pairs = sorted(
        combinations(hand, 2), key=lambda pair: usefulness[pair[0]] + usefulness[pair[1]]
    )
    stronger: list[Hand] = []
    strongest: HandValue | None = None
    for pair in pairs:
        value = best_hand(river + pair)
        if strongest is None or value > strongest:
            strongest = value
            stronger.append(pair)
    return stronger
