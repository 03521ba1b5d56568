"""Search of Poke: to the end of the deal, rated by its effect on the rubber."""

from itertools import groupby
from math import exp

from plan import Position

from referee.games.contract import Action
from referee.games.poke.actions import Answer, Draw, Lead, Stand
from referee.games.poke.state import LEG, LEG_POINTS, RUBBER, PokeState
from referee.games.shared.cards import RANK, Card
from referee.games.shared.poker import Category, best_hand

Hand = tuple[Card, ...]

CLOSE = 500.0
"""A lead above the line that nearly decides a rubber."""
STEEP = 3.0
"""Effect of a lead below the line on a leg; fitted to legs that the policy played."""
WEAK = 9
"""A hand without a pair may pay for a draw if its second highest card is below this."""


class PokePlan:
    """Search plan of Poke."""

    def playouts(self, state: PokeState) -> int:
        return 200

    def candidates(self, state: PokeState, seat: int) -> list[Action]:
        first = self.move(state, seat)
        thoughts = _draws(state.hands[seat]) if state.phase == "draw" else state.legal(seat)
        return [first, *(action for action in thoughts if action != first)]

    def move(self, state: PokeState, seat: int) -> Action:
        hand = state.hands[seat]
        if state.phase == "draw":
            free = seat == state.dealer and all(drawn.seat != seat for drawn in state.drawn)
            return _draw(hand, free)
        if state.phase == "lead":
            return Lead(_lead(hand))
        return Answer(_answer(hand, state.led))

    def over(self, root: PokeState, state: PokeState) -> bool:
        return len(state.deals) > len(root.deals)

    def value(self, at: Position, state: PokeState) -> float:
        worth = [above + rubber(state, seat) / 2 for seat, above in enumerate(state.above)]
        return at.against(worth, CLOSE)


def rubber(state: PokeState, seat: int) -> float:
    """Return the expected lead of the seat from the rest of the rubber."""
    if state.phase == "over":
        return 0.0
    ahead = state.below[seat] - state.below[1 - seat]
    left = max(1, LEG_POINTS + 5 - max(state.below))
    chance = 1 / (1 + exp(-STEEP * ahead / left))
    return leg(chance, state.legs[seat], state.legs[1 - seat])


def leg(chance: float, mine: int, theirs: int) -> float:
    """Return the expected lead from the remaining legs; ``chance``: to win the next one."""
    won = LEG + (RUBBER[theirs] if mine else leg(0.5, 1, theirs))
    lost = LEG + (RUBBER[mine] if theirs else -leg(0.5, mine, 1))
    return chance * won - (1 - chance) * lost


def _groups(hand: Hand) -> list[Hand]:
    """Return the cards by rank, the lowest first, in the order of the hand."""
    return [tuple(cards) for _, cards in groupby(hand, RANK.__getitem__)]


def _draw(hand: Hand, free: bool) -> Action:
    """Draw if it is free; pay for a draw only with nothing to lose."""
    made = best_hand(hand).category
    if made >= Category.STRAIGHT:
        return Stand()
    loose = [cards[0] for cards in _groups(hand) if len(cards) == 1]
    hopeless = made is Category.HIGH_CARD and RANK[loose[3]] < WEAK
    return Draw(tuple(loose[:3])) if loose and (free or hopeless) else Stand()


def _draws(hand: Hand) -> list[Action]:
    """Return the draws to search: stand, discard the lowest single cards, or any one of them."""
    loose = tuple(cards[0] for cards in _groups(hand) if len(cards) == 1)
    return [
        Stand(),
        *map(Draw, {loose[:n]: 0 for n in (3, 2) if len(loose) >= n}),
        *(Draw((c,)) for c in loose),
    ]


def _lead(hand: Hand) -> Hand:
    """Lead groups first, except the highest cards; then the second best, to regain the lead."""
    groups = _groups(hand)[::-1]
    if len(groups) == 1:
        return groups[0]
    largest = max(groups if len(hand) < 5 else groups[1:], key=len)
    return largest if len(largest) > 1 else groups[1]


def _answer(hand: Hand, led: Hand) -> Hand:
    """Win as cheaply as possible; otherwise play the least useful cards."""
    size, rank = len(led), RANK[led[0]]
    groups = _groups(hand)
    winners = [cards for cards in groups if RANK[cards[0]] > rank and len(cards) >= size]
    if winners:
        return min(winners, key=len)[:size]
    groups.sort(key=len)
    return tuple(card for cards in groups for card in cards)[:size]
