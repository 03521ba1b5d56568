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

PLAYOUTS = 200
DECISIVE_LEAD = 500.0
"""A lead above the line that nearly decides a rubber."""
LEG_LEAD_EFFECT = 3.0
"""Slope of the log odds to win a leg, by the lead below the line as a share of the points that are
left; fitted to legs that the policy played."""
LEG_MARGIN = 5
"""Points added to the goal of a leg, which make a lead shortly before its end less decisive."""
HOPELESS_RANK = 9
"""A hand without a pair may pay for a draw if its second highest card is below this rank."""
MAX_DISCARDS = 3


class PokePlan:
    """Search plan of Poke."""

    analysis_playouts = 80_000

    def playouts(self, state: PokeState) -> int:
        return PLAYOUTS

    def candidates(self, state: PokeState, seat: int) -> list[Action]:
        usual = self.move(state, seat)
        actions = _draws(state.hands[seat]) if state.phase == "draw" else state.legal(seat)
        return [usual, *(action for action in actions if action != usual)]

    def move(self, state: PokeState, seat: int) -> Action:
        hand = state.hands[seat]
        if state.phase == "draw":
            is_free = seat == state.dealer and all(drawn.seat != seat for drawn in state.drawn)
            return _usual_draw(hand, is_free)
        if state.phase == "lead":
            return Lead(_usual_lead(hand))
        return Answer(_usual_answer(hand, state.led))

    def over(self, root: PokeState, state: PokeState) -> bool:
        return len(state.deals) > len(root.deals)

    def value(self, at: Position, state: PokeState) -> float:
        # Half of the expected lead for each seat gives the whole one as their difference.
        points = [
            above + expected_rubber_lead(state, seat) / 2 for seat, above in enumerate(state.above)
        ]
        return at.rating(points, DECISIVE_LEAD)


def expected_rubber_lead(state: PokeState, seat: int) -> float:
    """Return the expected lead of the seat above the line from the rest of the rubber."""
    if state.phase == "over":
        return 0.0
    lead = state.below[seat] - state.below[1 - seat]
    points_left = max(1, LEG_POINTS + LEG_MARGIN - max(state.below))
    win_probability = 1 / (1 + exp(-LEG_LEAD_EFFECT * lead / points_left))
    return expected_leg_lead(win_probability, state.legs[seat], state.legs[1 - seat])


def expected_leg_lead(win_probability: float, own_legs: int, other_legs: int) -> float:
    """Return the expected lead above the line from the remaining legs.

    Args:
        win_probability: the probability to win the next leg; later legs have 0.5.
        own_legs: legs of the seat, 0 or 1.
        other_legs: legs of the other seat, 0 or 1.
    """
    if_won = LEG + (RUBBER[other_legs] if own_legs else expected_leg_lead(0.5, 1, other_legs))
    if_lost = LEG + (RUBBER[own_legs] if other_legs else -expected_leg_lead(0.5, own_legs, 1))
    return win_probability * if_won - (1 - win_probability) * if_lost


def _groups(hand: Hand) -> list[Hand]:
    """Return the cards by rank, the lowest first, in the order of the hand."""
    return [tuple(cards) for _, cards in groupby(hand, RANK.__getitem__)]


def _single_cards(hand: Hand) -> Hand:
    """Return the cards without another one of their rank, the lowest first."""
    return tuple(cards[0] for cards in _groups(hand) if len(cards) == 1)


def _usual_draw(hand: Hand, is_free: bool) -> Action:
    """Draw if it is free; pay for a draw only with nothing to lose."""
    category = best_hand(hand).category
    if category >= Category.STRAIGHT:
        return Stand()
    single = _single_cards(hand)
    is_hopeless = category is Category.HIGH_CARD and RANK[single[3]] < HOPELESS_RANK
    return Draw(single[:MAX_DISCARDS]) if single and (is_free or is_hopeless) else Stand()


def _draws(hand: Hand) -> list[Action]:
    """Return the draws to search: stand, discard the lowest single cards, or any one of them."""
    single = _single_cards(hand)
    return [
        Stand(),
        *map(Draw, {single[:number]: 0 for number in (3, 2) if len(single) >= number}),
        *(Draw((card,)) for card in single),
    ]


def _usual_lead(hand: Hand) -> Hand:
    """Lead groups first, except the highest cards; then the second best, to regain the lead."""
    groups = _groups(hand)[::-1]
    if len(groups) == 1:
        return groups[0]
    largest = max(groups if len(hand) < 5 else groups[1:], key=len)
    return largest if len(largest) > 1 else groups[1]


def _usual_answer(hand: Hand, led: Hand) -> Hand:
    """Win as cheaply as possible; otherwise play the least useful cards."""
    size, rank = len(led), RANK[led[0]]
    groups = _groups(hand)
    winners = [cards for cards in groups if RANK[cards[0]] > rank and len(cards) >= size]
    if winners:
        return min(winners, key=len)[:size]
    groups.sort(key=len)
    return tuple(card for cards in groups for card in cards)[:size]
