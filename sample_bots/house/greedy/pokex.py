"""Pokex by rules of thumb.

What counts is wild cards: a hand is bid on by how many it would have. A trick is won as cheaply
as it can be: the others, the partner too, are taken to play the best of a few cards at random.
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
"""How often the cards of the others are imagined."""
BEST_OF = 10
"""The others play the best of so many choices at random."""
WILD_WORTH, RANK_WORTH, GROUP_WORTH = 0.22, 0.008, 0.03
"""What a card is worth in tricks: if it is wild, for each rank, for each other one of its rank."""

EXPECTED = {4: (3.8, 0.08, 0.05), 2: (3.1, 0.25, 0.3)}
"""The tricks that a declarer takes, by the number of seats: to begin with, and for each wild card
in hand and in the centre."""
USUAL, SPREAD = 4.0, 1.1
"""The tricks that a declarer takes, and by how much they differ."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """The action, and why."""
    view = turn.view.pokex
    if view.phase == "bid":
        return bid(view, turn.seat)
    if view.phase == "name":
        rank = best_rank(view)
        return Action(pokex={"name_wild": {"rank": rank}}), "held most, with the centre"
    return play(view, turn.seat)


def best_rank(view: PokexView) -> str:
    """The rank held most; then the one that comes most often in the centre; then the lowest."""
    held, centre = ([card[0] for card in cards] for cards in (view.hand, view.centre))
    return max(RANKS, key=lambda rank: (held.count(rank), centre.count(rank), -RANKS.index(rank)))


def bid(view: PokexView, seat: int) -> tuple[Action, str]:
    """What is worth most if the other side then does what is best for it."""
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
    """What a bid of one's own is worth when the others may still bid more."""
    return min([lead(bid, tricks), *(-lead(more, USUAL) for more in range(bid + 1, 7))])


@cache
def lead(bid: int, tricks: float) -> float:
    """By how many points the declarer's side beats the other, if it takes about so many tricks."""
    weights = [exp(-(((taken - tricks) / SPREAD) ** 2) / 2) for taken in range(7)]
    points = [0 if taken < bid else bid * (bid + 1) / 2 + bid * (taken - bid) for taken in range(7)]
    leads = [won - (6 - taken) * (7 - taken) / 2 for taken, won in enumerate(points)]
    weighed = zip(weights, leads, strict=True)
    return sum(weight * by for weight, by in weighed) / sum(weights)


def seats_of(view: PokexView) -> int:
    """How many play."""
    return 4 if len(view.centre) == 6 else 2


def play(view: PokexView, seat: int) -> tuple[Action, str]:
    """What most likely wins the trick, less what it is worth."""
    size = 2 if seats_of(view) == 4 else 1
    mine = [c for one in view.played if one.seat % 2 == seat % 2 for c in one.cards]
    theirs = [c for one in view.played if one.seat % 2 != seat % 2 for c in one.cards]
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
    """What is left of some cards when others are played."""
    return [card for card in hand if card not in cards]


def opposing(view: PokexView, theirs: Sequence[str], missing: int) -> Iterator[Value]:
    """What the other side's hand may become."""
    pool = unseen(view)
    for _ in range(TRIES if missing else 1):
        yield max(
            value([*view.turned, *theirs, *random.sample(pool, missing)], view.wild_rank)
            for _ in range(BEST_OF if missing else 1)
        )


def unseen(view: PokexView) -> list[str]:
    """The cards that may be in the hands of the others."""
    played = [*(one for trick in view.tricks for one in trick.played), *view.played]
    seen = {*view.hand, *view.centre, *(card for one in played for card in one.cards)}
    return [card for card in PACK if card not in seen]


def worth(card: str, view: PokexView) -> float:
    """What a card is worth in later tricks."""
    if len(view.tricks) == 5:
        return 0.0
    if is_wild(card, view.wild_rank):
        return WILD_WORTH
    same = sum(other[0] == card[0] for other in view.hand) - 1
    return RANK_WORTH * RANK[card] + GROUP_WORTH * same
