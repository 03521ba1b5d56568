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

PACK = [*RANK, "X1", "X2"]
TRIES = 12
"""Number of random deals of the hidden cards."""
BEST_OF = 10
"""Number of random choices; another seat plays the best of them."""
WILD_WORTH, RANK_WORTH, GROUP_WORTH = 0.22, 0.008, 0.03
"""Value of a card in tricks: if wild, per rank, and per other card of its rank."""

EXPECTED = {4: (3.8, 0.08, 0.05), 2: (3.1, 0.25, 0.3)}
"""Expected tricks of a declarer by the number of seats: the base, then the increase for each wild
card in hand and in the centre."""
USUAL, SPREAD = 4.0, 1.1
"""Mean and standard deviation of a declarer's tricks."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    view = turn.view.pokex
    if view.phase == "bid":
        return bid(view, turn.seat)
    if view.phase == "name":
        rank = best_rank(view)
        return Action(pokex={"name_wild": {"rank": rank}}), "held most, with the centre"
    return play(view, turn.seat)


def best_rank(view: PokexView) -> str:
    """Return the most frequent rank of the hand, then of the centre; of equal ones the lowest."""
    held, centre = ([card[0] for card in cards] for cards in (view.hand, view.centre))
    return max(RANKS, key=lambda rank: (held.count(rank), centre.count(rank), -RANKS.index(rank)))


def bid(view: PokexView, seat: int) -> tuple[Action, str]:
    """Return the best call if the other side then makes its best call."""
    rank = best_rank(view)
    held, centre = (sum(is_wild(c, rank) for c in cards) for cards in (view.hand, view.centre))
    start, each, for_centre = EXPECTED[seats_of(view)]
    tricks = start + each * held + for_centre * centre
    ours = view.bid > 0 and view.declarer % 2 == seat % 2
    stays = answered(view.bid, USUAL) if ours else -lead(view.bid, USUAL)
    worths = {bid: answered(bid, tricks) for bid in range(view.bid + 1, 7)}
    best = max(worths, key=worths.__getitem__, default=0)
    if not best or (view.bid and stays >= worths[best]):
        return Action(pokex={"pass_bid": {}}), "would rather not bid more"
    return Action(pokex={"bid": {"tricks": best}}), f"about {tricks:.1f} tricks with {rank}"


def answered(bid: int, tricks: float) -> float:
    """Return the value of a bid if the other side may still bid more."""
    return min([lead(bid, tricks), *(-lead(more, USUAL) for more in range(bid + 1, 7))])


@cache
def lead(bid: int, tricks: float) -> float:
    """Return the expected lead of the declarer's side in points, for this mean number of tricks."""
    weights = [exp(-(((taken - tricks) / SPREAD) ** 2) / 2) for taken in range(7)]
    points = [0 if taken < bid else bid * (bid + 1) / 2 + bid * (taken - bid) for taken in range(7)]
    leads = [won - (6 - taken) * (7 - taken) / 2 for taken, won in enumerate(points)]
    weighed = zip(weights, leads, strict=True)
    return sum(weight * by for weight, by in weighed) / sum(weights)


def seats_of(view: PokexView) -> int:
    """Return the number of seats."""
    return 4 if len(view.centre) == 6 else 2


def play(view: PokexView, seat: int) -> tuple[Action, str]:
    """Play the cards with the highest chance to win the trick, minus their value."""
    size = 2 if seats_of(view) == 4 else 1
    mine = [c for play in view.played if play.seat % 2 == seat % 2 for c in play.cards]
    theirs = [c for play in view.played if play.seat % 2 != seat % 2 for c in play.cards]
    choices = list(combinations(view.hand, size))
    missing = 5 - len(view.turned)
    later = missing - len(mine) - size
    pool = list(view.hand) if size == 1 else unseen(view)
    against = list(opposing(view, theirs, missing - len(theirs)))
    helps = [random.sample(pool, min(len(pool), later + 1)) for _ in range(BEST_OF)]
    price = {card: worth(card, view) for card in view.hand}
    wins_ties = view.bid > 0 and view.declarer % 2 == seat % 2

    def gain(cards: tuple[str, ...]) -> float:
        base = [*view.turned, *mine, *cards]
        best = max(value([*base, *rest(hand, cards)[:later]], view.wild_rank) for hand in helps)
        won = sum(best > other or (wins_ties and best == other) for other in against)
        return won / len(against) - sum(price[card] for card in cards)

    cards = max(choices, key=gain)
    why = "wins as cheaply as it can" if gain(cards) > 0 else "throws what it needs least"
    if size == 1:
        return Action(pokex={"play_card": {"card": cards[0]}}), why
    return Action(pokex={"play_pair": {"cards": cards}}), why


def rest(hand: Sequence[str], cards: Sequence[str]) -> list[str]:
    """Return the cards that remain after these are played."""
    return [card for card in hand if card not in cards]


def opposing(view: PokexView, theirs: Sequence[str], missing: int) -> Iterator[Value]:
    """Yield possible values of the other side's hand."""
    pool = unseen(view)
    for _ in range(TRIES if missing else 1):
        yield max(
            value([*view.turned, *theirs, *random.sample(pool, missing)], view.wild_rank)
            for _ in range(BEST_OF if missing else 1)
        )


def unseen(view: PokexView) -> list[str]:
    """Return the cards that other seats may hold."""
    played = [*(play for trick in view.tricks for play in trick.played), *view.played]
    seen = {*view.hand, *view.centre, *(card for play in played for card in play.cards)}
    return [card for card in PACK if card not in seen]


def worth(card: str, view: PokexView) -> float:
    """Return the value of a card in later tricks."""
    if len(view.tricks) == 5:
        return 0.0
    if is_wild(card, view.wild_rank):
        return WILD_WORTH
    same = sum(other[0] == card[0] for other in view.hand) - 1
    return RANK_WORTH * RANK[card] + GROUP_WORTH * same
