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

CLOSE = 12.0
"""A lead in points that nearly decides a game."""
THOUGHTS = 7
"""Number of plays to a trick that are searched."""
EXPECTED = {4: (3.8, 0.08, 0.05), 2: (3.1, 0.25, 0.3)}
"""Expected tricks of a declarer by the number of seats: the base, then the increase for each wild
card in hand and in the centre. The same values as in `greedy`."""
USUAL, SPREAD = 4.0, 1.1
"""Mean and standard deviation of a declarer's tricks."""
WILD_WORTH, RANK_WORTH, GROUP_WORTH = 0.22, 0.008, 0.03
"""Value of a card in tricks: if wild, per rank, and per other card of its rank."""
CHANCE = (0.0, 0.1, 0.25, 0.5, 0.85, 1.0)
"""Probability to win a trick, by the size of the largest group with the wild cards."""
SECOND_GROUP = 0.2
"""Increase of the probability by a second group."""


class PokexPlan:
    """Search plan of Pokex."""

    def playouts(self, state: PokexState) -> int:
        """Return fewer if a playout is longer."""
        return (36 + 16 * len(state.tricks)) * (3 if state.seats == 4 else 2) // 3

    def candidates(self, state: PokexState, seat: int) -> list[Action]:
        first = self.move(state, seat)
        if state.phase == "bid":
            thoughts = list(state.legal(seat))
        elif state.phase == "name":
            thoughts = [NameWild(rank) for rank in _best_ranks(state, seat)[:3]]
        else:
            size = _size(state)
            trick = _Trick(state, seat)
            every = combinations(state.hands[seat], size)
            ways = sorted(every, key=trick.gain, reverse=True)[:THOUGHTS]
            thoughts = [_played(cards) for cards in ways]
        return [first, *(action for action in thoughts if action != first)]

    def move(self, state: PokexState, seat: int) -> Action:
        if state.phase == "bid":
            return _call(state, seat)
        if state.phase == "name":
            return NameWild(_best_ranks(state, seat)[0])
        trick = _Trick(state, seat)
        return _played(max(trick.ways(), key=trick.gain))

    def over(self, root: PokexState, state: PokexState) -> bool:
        return len(state.deals) > len(root.deals)

    def value(self, at: Position, state: PokexState) -> float:
        return at.against(state.scores, CLOSE)


def _size(state: PokexState) -> int:
    """Return the number of cards per play."""
    return 2 if state.seats == 4 else 1


def _played(cards: Hand) -> Action:
    return PlayPair(cards) if len(cards) == 2 else PlayCard(cards[0])


def _best_ranks(state: PokexState, seat: int) -> list[str]:
    """Return the ranks, the most frequent of the hand first, then of the centre."""
    held, centre = "".join(state.hands[seat]), "".join(state.centre)
    return sorted(RANKS, key=lambda rank: (-held.count(rank), -centre.count(rank)))


def _call(state: PokexState, seat: int) -> Action:
    """Return the best call if the other side then makes its best call."""
    rank = _best_ranks(state, seat)[0]
    held, centre = (
        sum(is_wild(c, rank) for c in cards) for cards in (state.hands[seat], state.centre)
    )
    start, each, for_centre = EXPECTED[state.seats]
    tricks = start + each * held + for_centre * centre
    ours = state.declarer % 2 == seat % 2
    stays = _answered(state.bid, USUAL) if ours else -_lead(state.bid, USUAL)
    worths = {bid: _answered(bid, tricks) for bid in range(state.bid + 1, TRICKS + 1)}
    best = max(worths, key=worths.__getitem__, default=0)
    if not best or (state.bid and stays >= worths[best]):
        return PassBid()
    return Bid(best)


@cache
def _answered(bid: int, tricks: float) -> float:
    """Return the value of a bid if the other side may still bid more."""
    others = [-_lead(more, USUAL) for more in range(bid + 1, TRICKS + 1)]
    return min([_lead(bid, tricks), *others])


@cache
def _lead(bid: int, tricks: float) -> float:
    """Return the expected lead of the declarer's side in points, for this mean number of tricks."""
    taken = range(TRICKS + 1)
    weights = [exp(-(((n - tricks) / SPREAD) ** 2) / 2) for n in taken]
    leads = [declared(bid, n) - triangle(TRICKS - n) for n in taken]
    return sum([w * n for w, n in zip(weights, leads, strict=True)]) / sum(weights)


class _Trick:
    """A trick, as the seat that plays next sees it."""

    def __init__(self, state: PokexState, seat: int) -> None:
        self.hand = state.hands[seat]
        self.wild_rank = wild = state.wild_rank
        self.size = _size(state)
        mine: Hand = ()
        theirs: Hand = ()
        for play in state.played:
            if play.seat % 2 == seat % 2:
                mine += play.cards
            else:
                theirs += play.cards
        turned = state.turned
        self.base = turned + mine
        self.missing = 5 - len(self.base) - self.size
        self.theirs = wild_hand(turned + theirs, wild) if len(turned + theirs) == 5 else None
        self.wins_ties = bool(state.bid) and state.declarer % 2 == seat % 2
        text = "".join(self.hand)
        last = len(state.tricks) == TRICKS - 1
        self.price = {
            c: 0.0
            if last
            else WILD_WORTH
            if is_wild(c, wild)
            else RANK_WORTH * RANK[c] + GROUP_WORTH * (text.count(c[0]) - 1)
            for c in self.hand
        }

    def gain(self, cards: Hand) -> float:
        """Return the probability to win the trick with these cards, minus their value."""
        return self.chance(self.base + cards) - sum([self.price[c] for c in cards])

    def chance(self, cards: Hand) -> float:
        """Estimate the probability to win the trick with these and the still missing cards."""
        if self.theirs and not self.missing:
            ours = wild_hand(cards, self.wild_rank)
            return float(ours > self.theirs or (self.wins_ties and ours == self.theirs))
        natural = [c[0] for c in cards if not is_wild(c, self.wild_rank)]
        groups = sorted([natural.count(rank) for rank in set(natural)])[-2:]
        most = groups[-1] if groups else 0
        second = len(groups) == 2 and groups[0] > 1
        return CHANCE[min(5, most + len(cards) - len(natural))] + SECOND_GROUP * second

    def ways(self) -> list[Hand]:
        """Return some plays to compare: the cheapest cards, groups, and wild cards."""
        cheap = sorted(self.hand, key=self.price.__getitem__)
        wild = [c for c in cheap if is_wild(c, self.wild_rank)]
        ranks = dict.fromkeys(c[0] for c in self.base)
        groups = [[c for c in cheap if c[0] == rank and c not in wild] for rank in ranks]
        largest = max(cheap, key=lambda c: (c not in wild) * self.price[c])
        groups += [[c for c in cheap if c[0] == largest[0]], wild, wild[:1]]
        cheapest = tuple(cheap[: self.size])
        filled = [tuple(dict.fromkeys([*group, *cheap])) for group in groups if group]
        return [cheapest, *(cards[: self.size] for cards in filled)]
