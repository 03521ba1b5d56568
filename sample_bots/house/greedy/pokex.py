"""Pokex by rules of thumb.

Wild cards decide: a bid depends on the number of wild cards. The bot wins a trick as cheaply as
possible. It assumes that each other seat, including the partner, plays the best of a few random
choices.
"""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from math import exp

from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena.v1.pokex_pb2 import PokexView
from wild import RANK, RANKS, Value, is_wild, value

DECK_WITH_JOKERS = [*RANK, "X1", "X2"]
TRICKS = 6
HAND_SIZE = 5
"""Cards of a side at the end of a trick, with the centre cards."""
SAMPLED_OPPONENTS = 12
"""Random hands of the other side, against which a play is compared."""
CHOICES_PER_SEAT = 10
"""Random choices of another seat, of which it plays the best one."""
WILD_PRICE, RANK_PRICE, GROUP_PRICE = 0.22, 0.008, 0.03
"""Value of a card in tricks: if wild, per rank, and per other card of its rank."""

DECLARER_TRICKS = {4: (3.8, 0.08, 0.05), 2: (3.1, 0.25, 0.3)}
"""Expected tricks of a declarer by the number of seats: the base, then the increase for each wild
card in hand and in the centre."""
MEAN_DECLARER_TRICKS, DECLARER_TRICKS_DEVIATION = 4.0, 1.1
"""Mean and standard deviation of a declarer's tricks."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    view = turn.view.pokex
    if view.phase == "bid":
        return bid(view, turn.seat)
    if view.phase == "name":
        rank = most_frequent_rank(view)
        return Action(pokex={"name_wild": {"rank": rank}}), "held most, with the centre"
    return play(view, turn.seat)


def most_frequent_rank(view: PokexView) -> str:
    """Return the most frequent rank of the hand, then of the centre; of equal ones the lowest."""
    held, centre = ([card[0] for card in cards] for cards in (view.hand, view.centre))
    return max(RANKS, key=lambda rank: (held.count(rank), centre.count(rank), -RANKS.index(rank)))


def bid(view: PokexView, seat: int) -> tuple[Action, str]:
    """Return the best call if the other side then makes its best call."""
    rank = most_frequent_rank(view)
    held, centre = (  # wild cards
        sum(is_wild(card, rank) for card in cards) for cards in (view.hand, view.centre)
    )
    base, per_held, per_centre = DECLARER_TRICKS[seats_of(view)]
    tricks = base + per_held * held + per_centre * centre
    is_own_bid = view.bid > 0 and view.declarer % 2 == seat % 2
    value_of_pass = (
        value_of_bid(view.bid, MEAN_DECLARER_TRICKS)
        if is_own_bid
        else -lead(view.bid, MEAN_DECLARER_TRICKS)
    )
    values = {bid: value_of_bid(bid, tricks) for bid in range(view.bid + 1, TRICKS + 1)}
    best = max(values, key=values.__getitem__, default=0)
    if not best or (view.bid and value_of_pass >= values[best]):
        return Action(pokex={"pass_bid": {}}), "would rather not bid more"
    return Action(pokex={"bid": {"tricks": best}}), f"about {tricks:.1f} tricks with {rank}"


def value_of_bid(bid: int, tricks: float) -> float:
    """Return the value of a bid if the other side may still bid more."""
    if_outbid = [-lead(higher, MEAN_DECLARER_TRICKS) for higher in range(bid + 1, TRICKS + 1)]
    return min([lead(bid, tricks), *if_outbid])


@cache
def lead(bid: int, tricks: float) -> float:
    """Return the expected lead of the declarer's side in points, for this mean number of tricks."""
    possible = range(TRICKS + 1)
    weights = [
        exp(-(((taken - tricks) / DECLARER_TRICKS_DEVIATION) ** 2) / 2) for taken in possible
    ]
    points = [0 if taken < bid else bid * (bid + 1) / 2 + bid * (taken - bid) for taken in possible]
    leads = [
        own_points - (TRICKS - taken) * (TRICKS + 1 - taken) / 2
        for taken, own_points in enumerate(points)
    ]
    weighted = zip(weights, leads, strict=True)
    return sum(weight * difference for weight, difference in weighted) / sum(weights)


def seats_of(view: PokexView) -> int:
    """Return the number of seats."""
    return 4 if len(view.centre) == 6 else 2


def play(view: PokexView, seat: int) -> tuple[Action, str]:
    """Play the cards with the highest chance to win the trick, minus their value."""
    size = 2 if seats_of(view) == 4 else 1
    mine = [c for play in view.played if play.seat % 2 == seat % 2 for c in play.cards]
    theirs = [c for play in view.played if play.seat % 2 != seat % 2 for c in play.cards]
    plays = list(combinations(view.hand, size))
    from_seats = HAND_SIZE - len(view.turned)
    later = from_seats - len(mine) - size  # cards of this side after this play
    pool = list(view.hand) if size == 1 else unseen(view)
    opponent_values = list(sampled_opponent_values(view, theirs, from_seats - len(theirs)))
    later_hands = [random.sample(pool, min(len(pool), later + 1)) for _ in range(CHOICES_PER_SEAT)]
    price = {card: price_of(card, view) for card in view.hand}
    wins_ties = view.bid > 0 and view.declarer % 2 == seat % 2

    def gain(cards: tuple[str, ...]) -> float:
        base = [*view.turned, *mine, *cards]
        best = max(
            value([*base, *without(hand, cards)[:later]], view.wild_rank) for hand in later_hands
        )
        won = sum(best > other or (wins_ties and best == other) for other in opponent_values)
        return won / len(opponent_values) - sum(price[card] for card in cards)

    cards = max(plays, key=gain)
    why = "wins as cheaply as it can" if gain(cards) > 0 else "throws what it needs least"
    if size == 1:
        return Action(pokex={"play_card": {"card": cards[0]}}), why
    return Action(pokex={"play_pair": {"cards": cards}}), why


def without(hand: Sequence[str], cards: Sequence[str]) -> list[str]:
    """Return the cards that remain after these are played."""
    return [card for card in hand if card not in cards]


def sampled_opponent_values(
    view: PokexView, theirs: Sequence[str], missing: int
) -> Iterator[Value]:
    """Yield possible values of the other side's hand."""
    pool = unseen(view)
    for _ in range(SAMPLED_OPPONENTS if missing else 1):
        yield max(
            value([*view.turned, *theirs, *random.sample(pool, missing)], view.wild_rank)
            for _ in range(CHOICES_PER_SEAT if missing else 1)
        )


def unseen(view: PokexView) -> list[str]:
    """Return the cards that other seats may hold."""
    played = [*(play for trick in view.tricks for play in trick.played), *view.played]
    seen = {*view.hand, *view.centre, *(card for play in played for card in play.cards)}
    return [card for card in DECK_WITH_JOKERS if card not in seen]


def price_of(card: str, view: PokexView) -> float:
    """Return the value of a card in later tricks."""
    if len(view.tricks) == TRICKS - 1:
        return 0.0
    if is_wild(card, view.wild_rank):
        return WILD_PRICE
    same = sum(other[0] == card[0] for other in view.hand) - 1
    return RANK_PRICE * RANK[card] + GROUP_PRICE * same
