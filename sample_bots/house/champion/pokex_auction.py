"""Auctions of Pokex, many at once, as arrays with a row per deal.

Seats are numbered in the order of bidding, so seat 0 bids first. Seats of equal parity form a side.
A call is 0 for a pass, or the number of tricks of a bid.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from pokex_hands import AnyArray, IntArray
from pokex_simulator import TRICKS, PokexWeights

from referee.games.pokex.legal import HIGHEST_BID
from referee.games.pokex.state import GOAL, score_deal

SIDES = 2
CALLS = HIGHEST_BID + 1
"""A pass and the bids."""
SITUATIONS = 3 * CALLS
"""The standing bid, and whose it is: nobody's, of the side that calls, or of the other side."""
MAX_CALLS_PER_SEAT = 8
"""Calls of a seat in an auction of the training, at most; the auction ends earlier."""
MEMORY = 0.8
"""Factor of the earlier results after each round of auctions in the training."""
PSEUDO_COUNT = 0.2
"""Samples of value 0 that each round adds, so that the number of samples stays above zero."""
RandomCalls = list[tuple[IntArray, int, IntArray, IntArray]]
"""Random calls of one seat at a time: rows, seat, situations, and calls."""


@dataclass
class Auctions:
    """Auctions in progress; the arrays have a row per auction."""

    seats: int
    bid: IntArray
    """The standing bid; 0 for none."""
    declarer: IntArray
    """The seat of the standing bid."""
    passes: IntArray
    """Passes in a row."""
    next_seat: int
    """The seat that calls next."""

    @classmethod
    def begin(cls, seats: int, rows: int) -> "Auctions":
        """Return auctions without a call."""
        bid, declarer, passes = np.zeros((3, rows), dtype=np.int64)
        return cls(seats, bid, declarer, passes, next_seat=0)

    def situations(self, seat: int) -> IntArray:
        """Return the situation of a seat as a number below SITUATIONS, by row."""
        own_side = (self.declarer - seat) % SIDES == 0
        bidder = np.where(self.bid == 0, 0, np.where(own_side, 1, 2))
        return np.asarray(self.bid * 3 + bidder)

    def running(self) -> AnyArray:
        """Return the rows whose auction is not over."""
        ending_passes = np.where(self.bid > 0, self.seats - 1, self.seats)
        return np.asarray((self.passes < ending_passes) & (self.bid < HIGHEST_BID))

    def call(self, calls: IntArray) -> None:
        """Make the next seat's calls in the auctions that are not over."""
        is_bid = self.running() & (calls > 0)
        self.bid = np.where(is_bid, calls, self.bid)
        self.declarer = np.where(is_bid, self.next_seat, self.declarer)
        self.passes = np.where(is_bid, 0, self.passes + 1)
        self.next_seat = (self.next_seat + 1) % self.seats

    def play(self, weights: PokexWeights, strengths: IntArray) -> None:
        """Call by the learned values to the end; ``strengths`` are classes by row and seat."""
        while self.running().any():
            seat = self.next_seat
            values = weights.calls[self.situations(seat), strengths[:, seat]]
            self.call(best_calls(values, self.bid))


def best_calls(values: AnyArray, bids: IntArray) -> IntArray:
    """Return the legal call with the best value, by row.

    Args:
        values: the values by row and call, shape (rows, CALLS).
        bids: the standing bid, by row; only higher bids are legal.
    """
    legal = np.arange(CALLS) > bids[:, None]
    legal[:, 0] = True
    return np.asarray(np.where(legal, values, -np.inf).argmax(axis=1))


@cache
def points_table() -> AnyArray:
    """Return the points of a deal, shape (CALLS, TRICKS + 1, SIDES).

    The indices are the bid, the tricks of the declarer's side, and the side (0 for the declarer's).
    Bid 0 is a deal without a bid: there the second index is the tricks of side 0. The other side
    has the other tricks; a trick without a winner is not represented.
    """
    table = np.zeros((CALLS, TRICKS + 1, SIDES), dtype=np.int64)
    for bid in range(CALLS):
        for taken in range(TRICKS + 1):
            table[bid, taken] = score_deal(bid, 0, (taken, TRICKS - taken))
    return table


def deal_points(auctions: Auctions, tricks: IntArray, tricks_without_bid: IntArray) -> IntArray:
    """Return the points of both sides, shape (rows, 2).

    Args:
        auctions: finished auctions.
        tricks: the tricks of the declarer's side by row and declarer, shape (rows, seats).
        tricks_without_bid: the tricks of side 0 if all seats pass, by row.
    """
    has_bid, rows = auctions.bid > 0, np.arange(len(tricks))
    taken = np.where(has_bid, tricks[rows, auctions.declarer], tricks_without_bid)
    points = points_table()[auctions.bid, taken]
    declarer_is_side_1 = has_bid & (auctions.declarer % SIDES == 1)
    return np.asarray(np.where(declarer_is_side_1[:, None], points[:, ::-1], points))


def learned_calls(
    weights: PokexWeights,
    strengths: IntArray,
    tricks: IntArray,
    tricks_without_bid: IntArray,
    rounds: int,
    rng: np.random.Generator,
) -> AnyArray:
    """Return the value of each call in points: shape (SITUATIONS, strength classes, CALLS).

    In each round every deal has one auction with at most one random call. The lead in points of its
    side is a sample for the value of this call. Later rounds count more.

    Args:
        weights: the tables; the calls are replaced after each round.
        strengths: strength classes by row and seat.
        tricks: as for :func:`deal_points`.
        tricks_without_bid: as for :func:`deal_points`.
        rounds: number of rounds.
        rng: the source of the random calls.
    """
    shape = (SITUATIONS, len(weights.strengths) + 1, CALLS)
    total, count = np.zeros(shape), np.full(shape, 1.0)
    for _ in range(rounds):
        weights.calls = total / count
        auctions, random_calls = _auctions_with_random_calls(weights, strengths, rng)
        points = deal_points(auctions, tricks, tricks_without_bid)
        lead = (points[:, 0] - points[:, 1]).astype(float)
        total, count = MEMORY * total, MEMORY * count + PSEUDO_COUNT
        for rows, seat, situations, calls in random_calls:
            index = (situations, strengths[rows, seat], calls)
            np.add.at(total, index, lead[rows] if seat % SIDES == 0 else -lead[rows])
            np.add.at(count, index, 1)
    return np.asarray(total / count)


def _auctions_with_random_calls(
    weights: PokexWeights, strengths: IntArray, rng: np.random.Generator
) -> tuple[Auctions, RandomCalls]:
    """Play an auction of each deal; one of its first calls is random."""
    deals, seats = strengths.shape
    auctions = Auctions.begin(seats, deals)
    random_step = rng.integers(seats + 2, size=deals)
    random_calls: RandomCalls = []
    for step in range(MAX_CALLS_PER_SEAT * seats):
        running, seat = auctions.running(), auctions.next_seat
        if not running.any():
            break
        situations = auctions.situations(seat)
        calls = best_calls(weights.calls[situations, strengths[:, seat]], auctions.bid)
        rows = np.flatnonzero(running & (random_step == step))
        noise = rng.random((len(rows), CALLS))
        calls[rows] = best_calls(noise, auctions.bid[rows])
        random_calls.append((rows, seat, situations[rows], calls[rows]))
        auctions.call(calls)
    return auctions, random_calls


def game_results(points: IntArray) -> AnyArray:
    """Return the probability to win the game before a deal, shape (GOAL, GOAL).

    The first index is the points of the side that bids first, the second one those of the other
    side. The other side bids first in the next deal. The table is computed from the highest totals
    backwards; a position that is not computed yet counts as one half.

    Args:
        points: the points of both sides in simulated deals, shape (rows, 2).
    """
    results, counts = np.unique(points, axis=0, return_counts=True)
    weights = counts / counts.sum()
    table = np.full((GOAL, GOAL), 0.5)
    for total in range(2 * GOAL - 2, -1, -1):
        for first in range(max(0, total - GOAL + 1), min(GOAL, total + 1)):
            second = total - first
            after = results + np.array([first, second])
            table[first, second] = weights @ win_probabilities(table, after[:, ::-1], False)
    return table


def win_probabilities(table: AnyArray, points: IntArray, of_first: bool) -> AnyArray:
    """Return the probability to win the game with these points after a deal, by row.

    Args:
        table: the result of :func:`game_results`.
        points: the points of the side that bids first in the next deal, and of the other side;
            shape (rows, 2).
        of_first: return the probability of the side that bids first, or else of the other one.
    """
    first, second = points.T
    if_open = table[np.minimum(first, GOAL - 1), np.minimum(second, GOAL - 1)]
    is_over = (np.maximum(first, second) >= GOAL) & (first != second)
    is_draw = (first >= GOAL) & (first == second)
    probability = np.where(is_over, first > second, np.where(is_draw, 0.5, if_open))
    return np.asarray(probability if of_first else 1 - probability)
