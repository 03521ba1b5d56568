"""Search of Pokex: to the end of the deal, rated by the points of the sides."""

from functools import cache
from itertools import combinations
from math import exp

from plan import Position

from referee.games.contract import Action
from referee.games.pokex.actions import Bid, NameWild, PassBid, PlayCard, PlayPair
from referee.games.pokex.state import TRICKS, PokexState, declared, triangle
from referee.games.shared.cards import RANK, RANKS, Card
from referee.games.shared.wild_cards import is_wild, wild_hand

Hand = tuple[Card, ...]

HAND_SIZE = 5
"""Cards of a side at the end of a trick, with the centre cards."""
FIRST_PLAYOUTS, PLAYOUTS_PER_TRICK = 36, 16
"""Playouts of a decision before the first trick, and more for each trick that is over."""
DECISIVE_LEAD = 12.0
"""A lead in points that nearly decides a game."""
MAX_SEARCHED_PLAYS = 7
MAX_SEARCHED_RANKS = 3
DECLARER_TRICKS = {4: (3.8, 0.08, 0.05), 2: (3.1, 0.25, 0.3)}
"""Expected tricks of a declarer by the number of seats: the base, then the increase for each wild
card in hand and in the centre. The same values as in `greedy`."""
MEAN_DECLARER_TRICKS, DECLARER_TRICKS_DEVIATION = 4.0, 1.1
"""Mean and standard deviation of a declarer's tricks."""
WILD_PRICE, RANK_PRICE, GROUP_PRICE = 0.22, 0.008, 0.03
"""Value of a card in later tricks: if wild, per rank, and per other card of its rank."""
WIN_PROBABILITY = (0.0, 0.1, 0.25, 0.5, 0.85, 1.0)
"""Probability to win a trick, by the size of the largest group with the wild cards."""
SECOND_GROUP_BONUS = 0.2
"""Increase of the probability by a second group."""


class PokexPlan:
    """Search plan of Pokex."""

    analysis_playouts = 22_000

    def playouts(self, state: PokexState) -> int:
        """Return fewer if a playout is longer: before later tricks, and with two seats."""
        playouts = FIRST_PLAYOUTS + PLAYOUTS_PER_TRICK * len(state.tricks)
        return playouts * (3 if state.seats == 4 else 2) // 3

    def candidates(self, state: PokexState, seat: int) -> list[Action]:
        usual = self.move(state, seat)
        if state.phase == "bid":
            actions = list(state.legal(seat))
        elif state.phase == "name":
            ranks = _ranks_by_frequency(state, seat)[:MAX_SEARCHED_RANKS]
            actions = [NameWild(rank) for rank in ranks]
        else:
            trick = _SeatTrick(state, seat)
            plays = combinations(state.hands[seat], _play_size(state))
            best = sorted(plays, key=trick.gain, reverse=True)[:MAX_SEARCHED_PLAYS]
            actions = [_play_action(cards) for cards in best]
        return [usual, *(action for action in actions if action != usual)]

    def move(self, state: PokexState, seat: int) -> Action:
        if state.phase == "bid":
            return _usual_call(state, seat)
        if state.phase == "name":
            return NameWild(_ranks_by_frequency(state, seat)[0])
        trick = _SeatTrick(state, seat)
        return _play_action(max(trick.promising_plays(), key=trick.gain))

    def over(self, root: PokexState, state: PokexState) -> bool:
        return len(state.deals) > len(root.deals)

    def value(self, at: Position, state: PokexState) -> float:
        return at.rating(state.scores, DECISIVE_LEAD)


def _play_size(state: PokexState) -> int:
    """Return the number of cards per play."""
    return 2 if state.seats == 4 else 1


def _play_action(cards: Hand) -> Action:
    return PlayPair(cards) if len(cards) == 2 else PlayCard(cards[0])


def _ranks_by_frequency(state: PokexState, seat: int) -> list[str]:
    """Return the ranks, the most frequent of the hand first, then of the centre."""
    held, centre = "".join(state.hands[seat]), "".join(state.centre)
    return sorted(RANKS, key=lambda rank: (-held.count(rank), -centre.count(rank)))


# Auction


def _usual_call(state: PokexState, seat: int) -> Action:
    """Return the best call if the other side then makes its best call."""
    rank = _ranks_by_frequency(state, seat)[0]
    wild_held, wild_centre = (
        sum(is_wild(card, rank) for card in cards) for cards in (state.hands[seat], state.centre)
    )
    base, per_held, per_centre = DECLARER_TRICKS[state.seats]
    tricks = base + per_held * wild_held + per_centre * wild_centre
    bids = range(state.bid + 1, TRICKS + 1)
    values = {bid: _value_of_bid(bid, tricks) for bid in bids}
    best = max(values, key=values.__getitem__, default=0)
    if not best:
        return PassBid()
    if state.bid:
        is_own_bid = state.declarer % 2 == seat % 2
        if is_own_bid:
            value_of_pass = _value_of_bid(state.bid, MEAN_DECLARER_TRICKS)
        else:
            value_of_pass = -_expected_lead(state.bid, MEAN_DECLARER_TRICKS)
        if value_of_pass >= values[best]:
            return PassBid()
    return Bid(best)


@cache
def _value_of_bid(bid: int, tricks: float) -> float:
    """Return the expected lead after a bid in points if the other side may still bid more.

    Args:
        bid: the bid.
        tricks: mean tricks of the bidding side as declarer.
    """
    higher_bids = range(bid + 1, TRICKS + 1)
    if_outbid = [-_expected_lead(higher, MEAN_DECLARER_TRICKS) for higher in higher_bids]
    return min([_expected_lead(bid, tricks), *if_outbid])


@cache
def _expected_lead(bid: int, tricks: float) -> float:
    """Return the expected lead of the declarer's side in points.

    Its number of tricks has a normal distribution around ``tricks``.
    """
    possible = range(TRICKS + 1)
    deviations = [(taken - tricks) / DECLARER_TRICKS_DEVIATION for taken in possible]
    weights = [exp(-(deviation**2) / 2) for deviation in deviations]
    leads = [declared(bid, taken) - triangle(TRICKS - taken) for taken in possible]
    weighted = [weight * lead for weight, lead in zip(weights, leads, strict=True)]
    return sum(weighted) / sum(weights)


# Tricks


class _SeatTrick:
    """A trick, as the seat that plays next sees it.

    Attributes:
        own: the centre cards and the cards played by the seat's side.
        missing: cards that the side will still play after this play.
        other_value: the value of the other side's hand if it is complete.
        price: the value of each card of the hand in later tricks.
    """

    def __init__(self, state: PokexState, seat: int) -> None:
        self.hand, self.wild_rank = state.hands[seat], state.wild_rank
        self.play_size = _play_size(state)
        own, other = state.turned, state.turned
        for play in state.played:
            if play.seat % 2 == seat % 2:
                own += play.cards
            else:
                other += play.cards
        self.own = own
        self.missing = HAND_SIZE - len(own) - self.play_size
        is_complete = len(other) == HAND_SIZE
        self.other_value = wild_hand(other, self.wild_rank) if is_complete else None
        self.wins_ties = bool(state.bid) and state.declarer % 2 == seat % 2
        is_last_trick = len(state.tricks) == TRICKS - 1
        text = "".join(self.hand)
        self.price = {card: 0.0 if is_last_trick else self._price(card, text) for card in self.hand}

    def _price(self, card: Card, hand_text: str) -> float:
        if is_wild(card, self.wild_rank):
            return WILD_PRICE
        return RANK_PRICE * RANK[card] + GROUP_PRICE * (hand_text.count(card[0]) - 1)

    def gain(self, cards: Hand) -> float:
        """Return the probability to win the trick with these cards, minus their value."""
        return self.win_probability(self.own + cards) - sum([self.price[card] for card in cards])

    def win_probability(self, cards: Hand) -> float:
        """Estimate the probability to win the trick with these and the still missing cards."""
        if self.other_value and not self.missing:
            value = wild_hand(cards, self.wild_rank)
            return float(value > self.other_value or (self.wins_ties and value == self.other_value))
        natural = [card[0] for card in cards if not is_wild(card, self.wild_rank)]
        groups = sorted([natural.count(rank) for rank in set(natural)])[-2:]
        largest = groups[-1] if groups else 0
        has_second = len(groups) == 2 and groups[0] > 1
        wild = len(cards) - len(natural)
        return WIN_PROBABILITY[min(HAND_SIZE, largest + wild)] + SECOND_GROUP_BONUS * has_second

    def promising_plays(self) -> list[Hand]:
        """Return some plays to compare: the cheapest cards, groups, and wild cards."""
        cheap = sorted(self.hand, key=self.price.__getitem__)
        wild = [card for card in cheap if is_wild(card, self.wild_rank)]
        natural = [card for card in cheap if card not in wild]
        ranks = dict.fromkeys(card[0] for card in self.own)
        groups = [[card for card in natural if card[0] == rank] for rank in ranks]
        dearest = max(cheap, key=lambda card: (card not in wild) * self.price[card])
        groups += [[card for card in cheap if card[0] == dearest[0]], wild, wild[:1]]
        cheapest = tuple(cheap[: self.play_size])
        filled = [tuple(dict.fromkeys([*group, *cheap])) for group in groups if group]
        return [cheapest, *(cards[: self.play_size] for cards in filled)]
