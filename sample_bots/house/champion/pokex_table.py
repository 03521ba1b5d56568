"""Many deals of Pokex at once, as arrays with a row per deal.

Seats are numbered by their role, the order of play in a trick: the declarer has role 1. Roles with
equal parity are partners.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from pokex_hands import (
    CLASSES,
    TYPES,
    WILD,
    Cards,
    Codes,
    Numbers,
    classes,
    codes_of_cards,
    places,
    types_of_cards,
    values,
)

TRICKS = 6
MOST = 7
"""Number of cards of a type in a hand, at most, plus one."""
COMING = 3
"""Number of different counts of a type in the coming centre cards; more count as two."""
STAGES = {4: 4, 2: 6}
"""Plays per trick."""


@dataclass
class Weights:
    """Learned tables of a number of seats."""

    chances: Numbers
    """Value of a play in tricks without the prices of its cards, by stage of the trick and by the
    classes of the cards of the other side and of the side that plays."""
    worth: Numbers
    """Value in tricks of the cards of a type in a hand, by the number of tricks left, type, number
    of cards, and number of coming centre cards of this type."""
    strengths: Numbers
    """Limits between the classes of strength of a hand in the auction."""
    calls: Numbers
    """Value of each call by standing bid, its side, and strength."""
    results: Numbers
    """Probability to win the game before a deal, by the points of the side that bids first and of
    the other side."""


def load(path: Path, seats: int) -> Weights:
    """Read the weights for a number of seats."""
    with np.load(path) as stored:
        return Weights(**{f.name: stored[f"{f.name}_{seats}"] for f in fields(Weights)})


@cache
def pairs(size: int) -> tuple[Cards, Cards]:
    """Return the positions of the first and of the second card of every pair."""
    every = np.array(list(combinations(range(size), 2)), dtype=np.int64).reshape(-1, 2)
    return every[:, 0], every[:, 1]


Watch = Callable[["PokexTables", int, Cards], None]


class PokexTables:
    """Deals in play."""

    def __init__(self, weights: Weights, hands: list[Cards], row: Cards, wild: Cards) -> None:
        """Begin deals.

        Args:
            hands: the cards of each role, an array per role.
            row: the centre cards of the tricks (rows, tricks, cards).
            wild: the number of the wild rank, by row.
        """
        self.weights, self.seats, self.rows = weights, len(hands), len(row)
        self.wild = wild
        types, codes = types_of_cards(), codes_of_cards()
        by_row = wild[:, None]
        self.types = [types[by_row, hand] for hand in hands]
        self.codes = [codes[by_row, hand] for hand in hands]
        self.counts = [counted(held) for held in self.types]
        self.turned: Codes = codes[wild[:, None, None], row].sum(axis=2, dtype=np.uint32)
        turned = types[wild[:, None, None], row]
        every = np.stack([counted(turned[:, t]) for t in range(TRICKS)])
        later = np.cumsum(every[::-1], axis=0)[::-1] - every
        self.coming = np.minimum(later, COMING - 1)
        self.centre = turned.shape[2]
        self.size = 2 if self.seats == 4 else 1
        self.trick = self.stage = 0
        self.bases = [self.turned[:, 0].copy() for _ in range(2)]
        self.taken = np.zeros((self.rows, 2), dtype=np.int64)
        self.ties = 1
        """The side that wins equal hands; -1 for none."""
        self.noise: Callable[[tuple[int, ...]], Numbers] | None = None
        """Returns noise for the values of the plays, for training."""
        self.watch: Watch | None = None
        """Called before each play with its number in each row."""
        self.paid: Numbers = np.zeros(self.rows)
        """The price of the cards of the last play, by row."""
        self.cell: Cards = np.zeros((0, 0), dtype=np.int64)
        """The places of the plays in the table of chances, except for the last play of a trick."""

    def resume(self, trick: int, played: list[Cards]) -> None:
        """Continue within a trick after plays that are the same in all rows."""
        self.trick, self.stage = trick, len(played)
        codes = codes_of_cards()
        self.bases = [self.turned[:, trick].copy() for _ in range(2)]
        for stage, cards in enumerate(played):
            shown = codes[self.wild[:, None], cards].sum(axis=1, dtype=np.uint32)
            self.bases[stage % 2] = self.bases[stage % 2] + shown

    def places_of(self, role: int) -> Cards:
        """Return the places of a hand in the table of its worth, per type."""
        counts = self.counts[role]
        return np.asarray((np.arange(TYPES) * MOST + counts) * COMING + self.coming[self.trick])

    def prices(self, role: int) -> tuple[Numbers, Numbers]:
        """Return the price of each card, and the extra price of two cards of each type."""
        single, double = prices(self.weights, TRICKS - 1 - self.trick)
        at = self.places_of(role)
        return np.take_along_axis(single[at], self.types[role], axis=1), double[at]

    def plays(self, role: int) -> tuple[Cards, ...]:
        """Return the positions of the cards of every play."""
        size = self.types[role].shape[1]
        return pairs(size) if self.size == 2 else (np.arange(size),)

    def gains(self, role: int) -> tuple[Numbers, Numbers]:
        """Return the value of each play in tricks, and the price of its cards."""
        codes, types, side = self.codes[role], self.types[role], role % 2
        single, double = self.prices(role)
        if self.size == 2:
            first, second = pairs(codes.shape[1])
            played = codes[:, first] + codes[:, second]
            cost = single[:, first] + single[:, second]
            same = types[:, first] == types[:, second]
            cost += same * np.take_along_axis(double, types[:, first], axis=1)
        else:
            played, cost = codes, single
        own = self.bases[side][:, None] + played
        ours = self.centre + self.size * (self.stage // 2 + 1)
        theirs = self.centre + self.size * ((self.stage + 1) // 2)
        if self.stage == STAGES[self.seats] - 1:
            value = values()[places(own, 5)]
            other = values()[places(self.bases[1 - side], 5)][:, None]
            won: Numbers = (value >= other) if self.ties == side else (value > other)
        else:
            self.cell = self.cells(own, ours, theirs, side)
            won = self.weights.chances[self.stage].take(self.cell)
        return won - cost, cost

    def cells(self, own: Codes, ours: int, theirs: int, side: int) -> Cards:
        """Return the places of hands in the table of chances."""
        against = classes(theirs)[places(self.bases[1 - side], theirs)].astype(np.int32)
        return np.asarray(classes(ours)[places(own, ours)] + against[:, None] * CLASSES)

    def play(self) -> Cards:
        """Play to the end of the deals and return the tricks by side of the roles."""
        while self.trick < TRICKS:
            role = self.stage % self.seats
            gains, cost = self.gains(role)
            if self.noise:
                gains = gains + self.noise(gains.shape)
            choice = gains.argmax(axis=1)
            self.paid = cost[np.arange(self.rows), choice]
            if self.watch:
                self.watch(self, role, choice)
            self.make(role, choice)
        return self.taken

    def make(self, role: int, choice: Cards) -> None:
        """Make a play, by its number in each row."""
        rows, side = np.arange(self.rows), role % 2
        keep = np.ones(self.types[role].shape, dtype=bool)
        for positions in self.plays(role):
            at = positions[choice]
            keep[rows, at] = False
            self.bases[side] = self.bases[side] + self.codes[role][rows, at]
            self.counts[role][rows, self.types[role][rows, at]] -= 1
        left = self.types[role].shape[1] - self.size
        self.types[role] = self.types[role][keep].reshape(self.rows, left)
        self.codes[role] = self.codes[role][keep].reshape(self.rows, left)
        self.stage += 1
        if self.stage == STAGES[self.seats]:
            self.end_trick()

    def end_trick(self) -> None:
        """Award the trick and turn the next centre cards."""
        first, second = (values()[places(base, 5)] for base in self.bases)
        self.taken[:, 0] += first > second
        self.taken[:, 1] += first < second
        if self.ties >= 0:
            self.taken[:, self.ties] += first == second
        self.trick, self.stage = self.trick + 1, 0
        if self.trick < TRICKS:
            self.bases = [self.turned[:, self.trick].copy() for _ in range(2)]


def counted(types: Cards) -> Cards:
    """Count the cards of each type, by row."""
    rows = len(types)
    at = types + TYPES * np.arange(rows)[:, None]
    return np.bincount(at.ravel(), minlength=TYPES * rows).reshape(rows, TYPES)


def prices(weights: Weights, left: int) -> tuple[Numbers, Numbers]:
    """Return the price of a card of each place of the table, and the extra price of a second one.

    The number of tricks left is counted after the current trick.
    """
    worth = weights.worth[left].reshape(TYPES, MOST, COMING)
    single, double = np.zeros_like(worth), np.zeros_like(worth)
    single[:, 1:] = worth[:, 1:] - worth[:, :-1]
    double[:, 2:] = 2 * worth[:, 1:-1] - worth[:, :-2] - worth[:, 2:]
    return single.ravel(), double.ravel()


def tricks_of(
    weights: Weights, hands: list[Cards], row: Cards, ranks: list[Cards], declarer: int
) -> Cards:
    """Return the tricks of a declarer's side; without a declarer (-1), those of seat 0's side.

    Args:
        hands: the hands by seat; without a declarer, seat 0 leads.
        ranks: the wild rank by declarer and row.
    """
    if declarer < 0:
        tables = PokexTables(weights, hands, row, np.full(len(row), WILD))
        tables.ties = -1
        return np.asarray(tables.play()[:, 0])
    roles = [hands[(declarer - 1 + role) % len(hands)] for role in range(len(hands))]
    return np.asarray(PokexTables(weights, roles, row, ranks[declarer]).play()[:, 1])


def strength(weights: Weights, hands: Cards, centre: Cards, wild: Cards) -> Numbers:
    """Return the worth of hands at the beginning of play, by row."""
    types, by_row = types_of_cards(), wild[:, None]
    coming = np.minimum(counted(types[by_row, centre]), COMING - 1)
    at = (np.arange(TYPES) * MOST + counted(types[by_row, hands])) * COMING + coming
    return np.asarray(weights.worth[TRICKS][at].sum(axis=1))


def best_ranks(hands: Cards, centre: Cards) -> Cards:
    """Return the rank that a declarer names: the most frequent one of the hand, then of the centre,
    then the lowest one."""
    none = types_of_cards()[WILD]
    held, lying = (counted(none[cards])[:, :WILD] for cards in (hands, centre))
    return np.asarray((held * 1000 + lying * 50 - np.arange(WILD)).argmax(axis=1))
