"""Auctions of Pokex, many at once, as arrays with a row per deal; the first seat bids first."""

from dataclasses import dataclass

import numpy as np
from pokex_hands import Cards, Numbers
from pokex_table import TRICKS, Weights

from referee.games.pokex.legal import HIGHEST_BID
from referee.games.pokex.state import GOAL, score_deal

CALLS = HIGHEST_BID + 1
"""A pass and the bids."""
SITUATIONS = 3 * CALLS
"""The standing bid, and whose it is: nobody's, of the side that calls, or of the other side."""
SIDES = 2


@dataclass
class Auctions:
    """Auctions in progress."""

    seats: int
    bid: Cards
    declarer: Cards
    passes: Cards
    """Passes in a row."""
    first: int
    """The seat that calls next."""

    @classmethod
    def begin(cls, seats: int, rows: int) -> "Auctions":
        """Return auctions without a call."""
        bid, declarer, passes = np.zeros((3, rows), dtype=np.int64)
        return cls(seats, bid, declarer, passes, first=0)

    def situations(self, seat: int) -> Cards:
        """Return the number of the situation of a seat, by row."""
        whose = np.where(self.bid == 0, 0, np.where((self.declarer - seat) % SIDES == 0, 1, 2))
        return np.asarray(self.bid * 3 + whose)

    def running(self) -> Numbers:
        """Return the rows whose auction is not over."""
        enough = np.where(self.bid > 0, self.seats - 1, self.seats)
        return np.asarray((self.passes < enough) & (self.bid < HIGHEST_BID))

    def call(self, calls: Cards) -> None:
        """Make the calls of a seat in the auctions that are not over."""
        going = self.running()
        bids = going & (calls > 0)
        self.bid = np.where(bids, calls, self.bid)
        self.declarer = np.where(bids, self.first, self.declarer)
        self.passes = np.where(bids, 0, self.passes + 1)
        self.first = (self.first + 1) % self.seats

    def play(self, weights: Weights, strengths: Cards) -> None:
        """Call by the tables to the end; ``strengths`` are classes by row and seat."""
        while self.running().any():
            values = weights.calls[self.situations(self.first), strengths[:, self.first]]
            self.call(best_calls(values, self.bid))


def best_calls(values: Numbers, bids: Cards) -> Cards:
    """Return the legal call with the best value, by row."""
    legal = np.arange(CALLS) > bids[:, None]
    legal[:, 0] = True
    return np.asarray(np.where(legal, values, -np.inf).argmax(axis=1))


def points_table() -> Numbers:
    """Return the points of the declarer's and the other side by bid and tricks of the declarer.

    Bid 0 has the points of a deal without a bid by the tricks of side 0; a trick without a winner
    is not counted there.
    """
    table = np.zeros((CALLS, TRICKS + 1, SIDES), dtype=np.int64)
    for bid in range(CALLS):
        for taken in range(TRICKS + 1):
            table[bid, taken] = score_deal(bid, 0, (taken, TRICKS - taken))
    return table


POINTS = points_table()


def deal_points(auctions: Auctions, tricks: Cards, passed: Cards) -> Cards:
    """Return the points by side.

    Args:
        auctions: finished auctions.
        tricks: the tricks of the declarer's side by row and declarer.
        passed: the tricks of side 0 if all seats pass.
    """
    rows = np.arange(len(tricks))
    taken = np.where(auctions.bid > 0, tricks[rows, auctions.declarer], passed)
    points = POINTS[auctions.bid, taken]
    swap = (auctions.bid > 0) & (auctions.declarer % SIDES == 1)
    return np.asarray(np.where(swap[:, None], points[:, ::-1], points))


def learned_calls(
    weights: Weights,
    strengths: Cards,
    tricks: Cards,
    passed: Cards,
    rounds: int,
    rng: np.random.Generator,
) -> Numbers:
    """Return the value of each call, by situation and class of strength.

    In each round every auction has one random call, and its result counts for this call.
    """
    deals, seats = strengths.shape
    shape = (SITUATIONS, len(weights.strengths) + 1, CALLS)
    total, count = np.zeros(shape), np.full(shape, 1.0)
    for _ in range(rounds):
        weights.calls = total / count
        auctions = Auctions.begin(seats, deals)
        odd = rng.integers(seats + 2, size=deals)
        notes = []
        for step in range(8 * seats):
            going, seat = auctions.running(), auctions.first
            if not going.any():
                break
            situations = auctions.situations(seat)
            calls = best_calls(weights.calls[situations, strengths[:, seat]], auctions.bid)
            now = np.flatnonzero(going & (odd == step))
            noise = rng.random((len(now), CALLS))
            calls[now] = best_calls(noise, auctions.bid[now])
            notes.append((now, seat, situations[now], calls[now]))
            auctions.call(calls)
        points = deal_points(auctions, tricks, passed)
        lead = (points[:, 0] - points[:, 1]).astype(float)
        total, count = 0.8 * total, 0.8 * count + 0.2
        for now, seat, situations, calls in notes:
            at = (situations, strengths[now, seat], calls)
            np.add.at(total, at, lead[now] if seat % SIDES == 0 else -lead[now])
            np.add.at(count, at, 1)
    return np.asarray(total / count)


def game_results(points: Cards) -> Numbers:
    """Return the probability to win before a deal, from the points of deals by side.

    The side that bids first has the first index. The other side bids first in the next deal.
    """
    results, counts = np.unique(points, axis=0, return_counts=True)
    weights = counts / counts.sum()
    table = np.full((GOAL, GOAL), 0.5)
    for total in range(2 * GOAL - 2, -1, -1):
        for mine in range(max(0, total - GOAL + 1), min(GOAL, total + 1)):
            after = results + np.array([mine, total - mine])
            table[mine, total - mine] = weights @ chances(table, after[:, ::-1], False)
    return table


def chances(table: Numbers, points: Cards, own_first: bool) -> Numbers:
    """Return the probability to win the game with these points after a deal.

    Args:
        table: the result of :func:`game_results`.
        points: the points of the side that bids first in the next deal, and of the other side.
        own_first: return the probability of the side that bids first, or else of the other one.
    """
    first, second = points.T
    open_game = table[np.minimum(first, GOAL - 1), np.minimum(second, GOAL - 1)]
    over = (np.maximum(first, second) >= GOAL) & (first != second)
    equal = (first >= GOAL) & (first == second)
    won = np.where(over, first > second, np.where(equal, 0.5, open_game))
    return np.asarray(won if own_first else 1 - won)
