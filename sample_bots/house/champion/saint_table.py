"""Simulates many games of Saint Poker at once, with numpy arrays.

All games are in the same round and phase. The seats play by a policy of learned tables: the value
of a hand is a sum over its ranks and suits, see :class:`Weights`. `train_saint_poker.py` fits it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from saint_hands import NONE, RANK_OF, SUIT_OF, Cards, Numbers, pair_values

ROUNDS = 8
WIDTH = 10
FUTURE = {2: 3, 3: 2, 4: 1, 5: 0}
"""Number of cards in the future river, by the number of seats."""
RIVER, SHOWN, FIRST, SECOND = range(4)
"""Latest act of a seat: add to the river, show, pick up the first or the second card."""
GAPS = np.array([-0.6, -0.4, -0.25, -0.15, -0.08, -0.03, -0.0001, 0.0001, 0.03, 0.1, 0.3])
"""Limits of the classes of differences between a hand and the best of the other seats."""

ONE_RANK = np.append(np.repeat(np.eye(13, dtype=np.int8), 4, axis=0), np.zeros((1, 13), np.int8), 0)
ONE_SUIT = np.append(np.tile(np.eye(4, dtype=np.int8), (13, 1)), np.zeros((1, 4), np.int8), 0)
ONE_BOTH = np.append(ONE_RANK, ONE_SUIT, axis=1)
RANK_COUNTS, SEEN_RANKS = 6, 3
SUIT_COUNTS, SEEN_SUITS = 11, 4
FEATURES = 13 * RANK_COUNTS * SEEN_RANKS + SUIT_COUNTS * SEEN_SUITS
_RANK_AT = np.arange(13) * RANK_COUNTS * SEEN_RANKS
_SUIT_AT = 13 * RANK_COUNTS * SEEN_RANKS


@dataclass(frozen=True)
class Weights:
    """The learned tables for a number of seats."""

    hands: Numbers
    """Points to come, by round (1 to 8), last act, and feature of the hand."""
    wins: Numbers
    """Probability to win a round, by round and class of the difference of values."""
    spread: Numbers
    """Standard deviation of the lead still to come, by round and last act."""
    keeps: Numbers
    """Logarithm of the odds that a card of the first hand is still held, by round and rank."""


def load(path: Path, seats: int) -> Weights:
    """Read the weights for a number of seats."""
    with np.load(path) as stored:
        names = ("hands", "wins", "spread", "keeps")
        return Weights(*(stored[f"{name}{seats}"].astype(np.float64) for name in names))


def counted(cards: Cards) -> Cards:
    """Count cards by rank (13) and suit (4)."""
    return np.asarray(ONE_BOTH[cards].sum(axis=-2, dtype=np.int64))


def features(held: Cards, seen: Cards) -> Cards:
    """Return the numbers of the features of hands: one for each rank and each suit.

    Args:
        held: the counts of each hand.
        seen: the counts of the next river.
    """
    ranks = _RANK_AT + held[..., :13] * SEEN_RANKS + np.minimum(seen[..., :13], SEEN_RANKS - 1)
    suits = _SUIT_AT + held[..., 13:] * SEEN_SUITS + np.minimum(seen[..., 13:], SEEN_SUITS - 1)
    return np.concatenate([ranks, suits], axis=-1)


def steps(weights: Numbers, held: Cards, seen: Cards, change: int) -> Numbers:
    """Return the change of value for each rank and suit if its count changes."""
    now = features(held, seen)
    after = features(np.clip(held + change, 0, SUIT_COUNTS - 1), seen)
    return np.asarray(weights[after] - weights[now])


def _chosen(cards: Cards, worth: Numbers) -> Cards:
    """Return the card with the highest rating of each row."""
    at = worth.argmax(axis=-1)[..., None]
    return np.asarray(np.take_along_axis(cards, at, -1)[..., 0])


class Tables:
    """Many games in the same round and phase.

    Attributes:
        hands: cards by game, seat and place, with :data:`NONE` for no card.
        stock: the cards to come, by game.
        river: the river, by game.
        future: the next river, by game.
        points: points by game and seat.
        lying: cards on the table, by game; :data:`NONE` where one was picked up.
        order: seats by game, from the worst hand to the best.
    """

    def __init__(self, seats: int, number: int, weights: Weights, rng: np.random.Generator) -> None:
        self.seats, self.number, self.weights, self.rng = seats, number, weights, rng
        self.rows = np.arange(number)
        self.round = 1
        self.noise = 0.0
        self.points = np.zeros((number, seats))
        self.hands = np.full((number, seats, WIDTH), NONE)
        self.stock = self.river = self.future = self.lying = self.base = np.zeros((number, 0), int)
        self.order = np.tile(np.arange(seats), (number, 1))
        self.shown = self.classes = self.order
        self.picked = 0
        self.watch: Callable[[Tables, int], None] = lambda tables, act: None

    def rivers(self) -> Cards:
        """Return the policy's cards for the river, by game and seat."""
        return _chosen(self.hands, self.rated_rivers())

    def rated_rivers(self) -> Numbers:
        """Rate every card of every hand for the river."""
        weights = self.weights.hands[self.round, RIVER]
        change = steps(weights, counted(self.hands), counted(self.river)[:, None], -1)
        return self._single(change, self.hands)

    def play_rivers(self, cards: Cards) -> None:
        """Add a card of every seat to the river."""
        self.hands = np.where(self.hands == cards[..., None], NONE, self.hands)
        self.base = self.river
        self.river = np.concatenate([self.river, cards], axis=1)
        self.watch(self, RIVER)

    def shows(self) -> Cards:
        """Return the policy's pairs, by game, seat and place."""
        firsts, seconds, worth, gaps = self.rated_pairs()
        at = worth.argmax(axis=2)[..., None]
        self.classes = np.take_along_axis(gaps, at, 2)[..., 0]
        return np.concatenate(
            [np.take_along_axis(firsts, at, 2), np.take_along_axis(seconds, at, 2)], axis=2
        )

    def rated_pairs(self) -> tuple[Cards, Cards, Numbers, Cards]:
        """Return all pairs by game and seat: both cards, their rating, and the class of the gap."""
        firsts, seconds, values = self.pairs()
        best = values.max(axis=2)
        wins = self.weights.wins[self.round]
        worth, classes = np.empty(values.shape), np.empty(values.shape, dtype=np.int64)
        for seat in range(self.seats):
            others = np.delete(best, seat, axis=1).max(axis=1)
            gap = values[:, seat] - others[:, None]
            classes[:, seat] = np.searchsorted(GAPS, gap)
            worth[:, seat] = self.round * wins[classes[:, seat]]
        if self.round < ROUNDS:
            worth += self._kept(firsts, seconds)
        else:
            worth += 0.001 * values
        worth[seconds == NONE] = -1e9
        if self.noise:
            worth += self.rng.gumbel(0, self.noise, worth.shape)
        return firsts, seconds, worth, classes

    def pairs(self) -> tuple[Cards, Cards, Numbers]:
        """Return all pairs of every hand and their values."""
        hands = np.sort(self.hands, axis=2)
        most = int((hands != NONE).sum(axis=2).max())
        left, right = (np.array(side) for side in zip(*combinations(range(most), 2), strict=True))
        firsts, seconds = hands[..., left], hands[..., right]
        shape = firsts.shape
        rivers = np.repeat(self.river, self.seats, axis=0)
        flat = (shape[0] * shape[1], shape[2])
        values = pair_values(rivers, firsts.reshape(flat), seconds.reshape(flat))
        values = values.reshape(shape)
        values[seconds == NONE] = -1
        return firsts, seconds, values

    def _kept(self, firsts: Cards, seconds: Cards) -> Numbers:
        """Return the value of each hand without a pair, up to a constant."""
        weights = self.weights.hands[self.round, SHOWN]
        held, seen = counted(self.hands), counted(self.future)[:, None]
        single, double = steps(weights, held, seen, -1), steps(weights, held, seen, -2)
        ranks = (RANK_OF[firsts], RANK_OF[seconds])
        suits = (13 + SUIT_OF[firsts] % 4, 13 + SUIT_OF[seconds] % 4)
        total = np.zeros(firsts.shape)
        for first, second in (ranks, suits):
            apart = np.take_along_axis(single, first, 2) + np.take_along_axis(single, second, 2)
            total += np.where(first == second, np.take_along_axis(double, first, 2), apart)
        return total

    def play_shows(self, pairs: Cards) -> None:
        """Show two cards of every seat, and compare."""
        self.hands = np.where(
            (self.hands == pairs[..., :1]) | (self.hands == pairs[..., 1:]), NONE, self.hands
        )
        self.shown = pairs
        values = np.stack(
            [
                pair_values(self.river, pairs[:, seat, :1], pairs[:, seat, 1:])[:, 0]
                for seat in range(self.seats)
            ],
            axis=1,
        )
        values += self.rng.random(values.shape) * 1e-9
        self.order = values.argsort(axis=1)
        self.points[self.rows, self.order[:, -1]] += self.round
        self.lying = np.concatenate([self.river, pairs.reshape(self.number, -1)], axis=1)
        self.picked = 0
        self.watch(self, SHOWN)

    def picker(self) -> Cards:
        """Return the seat that picks up, by game."""
        return np.asarray(self.order[:, self.picked % self.seats])

    def pick_ups(self) -> Cards:
        """Return the policy's cards to pick up, by game."""
        return _chosen(self.lying, self.rated_pick_ups())

    def rated_pick_ups(self) -> Numbers:
        """Rate every card on the table for the seat that picks up."""
        act = FIRST if self.picked < self.seats else SECOND
        weights = self.weights.hands[self.round, act]
        hands = self.hands[self.rows, self.picker()]
        change = steps(weights, counted(hands), counted(self.future), 1)
        return self._single(change, self.lying)

    def play_pick_ups(self, cards: Cards) -> None:
        """Pick up a card in every game; begin the next round after the last one."""
        seat = self.picker()
        hands = self.hands[self.rows, seat]
        hands[self.rows, (hands == NONE).argmax(axis=1)] = cards
        self.hands[self.rows, seat] = hands
        self.lying = np.where(self.lying == cards[:, None], NONE, self.lying)
        self.picked += 1
        if self.picked == self.seats:
            self.watch(self, FIRST)
        if self.picked == 2 * self.seats:
            self.watch(self, SECOND)
            turned = FUTURE[self.seats]
            self.river, self.future = self.future, self.stock[:, :turned]
            self.stock = self.stock[:, turned:]
            self.round += 1

    def _single(self, change: Numbers, cards: Cards) -> Numbers:
        """Return the change of value for single cards."""
        worth = np.take_along_axis(change, RANK_OF[cards], -1)
        worth = worth + np.take_along_axis(change, 13 + SUIT_OF[cards] % 4, -1)
        if self.noise:
            worth += self.rng.gumbel(0, self.noise, worth.shape)
        worth[cards == NONE] = -1e9
        return worth

    def lead(self, act: int) -> Numbers:
        """Return the expected points to come of every seat, up to a constant for each game."""
        weights = self.weights.hands[self.round, act]
        seen = counted(self.future)[:, None]
        return np.asarray(weights[features(counted(self.hands), seen)].sum(axis=-1))

    def play_round(self) -> None:
        """Play the rest of a round from its beginning."""
        self.play_rivers(self.rivers())
        self.play_shows(self.shows())
        self.play_all_pick_ups()

    def play_all_pick_ups(self) -> None:
        """Play the rest of the pick-ups of a round; the last round has no pick-ups."""
        if self.round < ROUNDS:
            while self.picked < 2 * self.seats:
                self.play_pick_ups(self.pick_ups())

    def repeat(self, number: int) -> None:
        """Copy each game this many times."""
        for name in ("hands", "stock", "points", "river", "future", "order", "lying"):
            setattr(self, name, np.repeat(getattr(self, name), number, axis=0))
        self.number *= number
        self.rows = np.arange(self.number)
