"""Simulates many deals of Pouku at once, with numpy arrays.

In all deals the same seat acts. The seats play by a policy of learned tables: every rank of a hand
has a rating as the next discard, a sum over its features. `train_pouku.py` fits it.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pouku_worth import BONUS_YAKU_COUNT, ONE, RANKS, Counts, Points, owed, set_worth

from referee.games.pouku.legal import GIVERS
from referee.games.pouku.state import DOUBLED, NEEDED, NEEDED_IN_TEAMS, PoukuForm

Numbers = NDArray[np.float64]

SIZES = (25, 25, 25, 5, 5, 5, RANKS)
"""Numbers of values of the features of a rank, see :func:`features`."""
FEATURES = sum(SIZES)
LONGEST = 24
"""Maximum number of simulated turns; a longer deal counts as void."""
GAIN = 1
"""Points that a keep must gain in a playout."""
_OFFSETS = np.cumsum((0, *SIZES[:-1]))


@dataclass(frozen=True)
class Weights:
    """Learned tables for a kind of table."""

    discards: Numbers
    """The rating of a discard, by feature."""
    leads: Numbers
    """Share of deals by the change of the lead over another side; the middle is no change."""


def named(form: PoukuForm) -> str:
    """Return the name of the tables for a form."""
    return "teams" if form.teams else str(form.seats)


def load(path: Path, form: PoukuForm) -> Weights:
    """Read the weights for a form."""
    with np.load(path) as stored:
        name = named(form)
        return Weights(*(stored[f"{part}_{name}"] for part in ("discards", "leads")))


def neighbours(cards: Counts) -> Counts:
    """Return how many of the two next ranks above and below each rank are there."""
    there = np.zeros((len(cards), RANKS + 4), dtype=np.int64)
    there[:, 2:-2] = cards > 0
    there[:, 1] = there[:, RANKS + 1]  # the ace is below the two as well
    around = there[:, :-4] + there[:, 1:-3] + there[:, 3:-1] + there[:, 4:]
    return np.asarray(around)


def features(hand: Counts, fields: Counts, lying: Counts, own: Counts, point: int) -> Counts:
    """Return the features of every rank as a discard: shape (rows, ranks, number of features).

    Args:
        hand: the hand.
        fields: the reference fields.
        lying: all fields.
        own: the field of the seat.
        point: the rank of the point card.
    """
    others = np.minimum(lying - fields, 4)
    columns = np.stack(
        [
            5 * hand + fields,
            5 * others + fields,
            5 * np.minimum(own, 4) + hand,
            neighbours(hand + fields),
            neighbours(hand),
            neighbours(others),
            np.broadcast_to(np.arange(RANKS) == point, hand.shape)
            * np.minimum(1 + lying + hand, RANKS - 1),
        ],
        axis=2,
    )
    return np.asarray(columns + _OFFSETS)


class PoukuTables:
    """Deals of Pouku in which the same seat acts.

    Attributes:
        hands: the hands by deal, seat and rank.
        fields: the fields by deal, seat and rank.
        laid: points of the kept yaku with its point cards, by deal and seat; 0 without one. A
            teammate's counts for both.
        stock: the ranks to be drawn, by deal.
        seat: the seat that acts next.
        moved: whether each seat has had a turn.
        points: the points of the finished deals, by deal and seat.
    """

    def __init__(self, form: PoukuForm, point: int, weights: Weights) -> None:
        self.form, self.point, self.weights = form, point, weights
        self.references = [list(form.refers_to(seat)) for seat in range(form.seats)]
        self.needed = NEEDED_IN_TEAMS if form.teams else NEEDED
        self.hands = self.fields = np.zeros((0, form.seats, RANKS), dtype=np.int64)
        self.laid = np.zeros((0, form.seats), dtype=np.int64)
        self.stock = np.zeros((0, 0), dtype=np.int64)
        self.points = np.zeros((0, form.seats), dtype=np.int64)
        self.alive = np.arange(0)
        self.drawn = 0
        self.seat = 0
        self.moved = [False] * form.seats
        self.watch: Callable[[PoukuTables, Counts], None] = lambda tables, ranks: None

    def begin(self) -> None:
        """Prepare for playing; all deals are unfinished."""
        self.points = np.zeros((len(self.hands), self.form.seats), dtype=np.int64)
        self.alive = np.arange(len(self.hands))

    def reference(self, seat: int) -> Counts:
        """Return the reference fields of a seat."""
        near, far = self.references[seat]
        return np.asarray(self.fields[:, near] + self.fields[:, far])

    def worth(self, seat: int) -> tuple[Points, NDArray[np.bool_]]:
        """Return the points of a seat's best set, and whether it may go out."""
        values, hand, fields = self.form.values, self.hands[:, seat], self.reference(seat)
        points, yaku = np.divmod(set_worth(values, hand, fields), ONE)
        laid = self.laid[:, seat]
        points += values.point * (hand[:, self.point] + fields[:, self.point]) + laid
        points += values.four_yaku * (yaku + (laid > 0) >= BONUS_YAKU_COUNT)
        return points, (points >= self.needed) & ((yaku > 0) | (laid == 0))

    def score(self, seat: int, points: Points) -> Points:
        """Return the score for going out with this worth."""
        if not self.moved[seat]:
            points = points + self.form.values.first_turn
        if self.form.teams:
            return points
        return np.where(points >= DOUBLED, 2 * points, points)

    def payments(self, seat: int) -> Points:
        """Return the payments of a seat."""
        if self.form.teams:
            return self.laid[:, seat]
        lying = 2 * owed(self.form.values, self.reference(seat), self.point)
        return np.asarray(lying + (2 if self.form.seats == 3 else 1) * self.laid[:, seat])

    def ratings(self, seat: int) -> Numbers:
        """Return the rating of each rank as a discard; ranks not held have the lowest."""
        hand = self.hands[:, seat]
        lying, own = self.fields.sum(axis=1), self.fields[:, seat]
        rows = features(hand, self.reference(seat), lying, own, self.point)
        rated = self.weights.discards[rows].sum(axis=2)
        rated[hand == 0] = -1e9
        return np.asarray(rated)

    def draw(self) -> None:
        """Let the acting seat draw."""
        self.hands[np.arange(len(self.hands)), self.seat, self.stock[:, self.drawn]] += 1
        self.drawn += 1

    def discard(self, ranks: Counts) -> None:
        """Discard a card of the acting seat to its field; the next seat acts."""
        rows = np.arange(len(self.hands))
        self.hands[rows, self.seat, ranks] -= 1
        self.fields[rows, self.seat, ranks] += 1
        self.moved[self.seat] = True
        self.seat = (self.seat + 1) % self.form.seats

    def go_out(self, rows: NDArray[np.bool_], points: Points) -> None:
        """Finish deals: the acting seat goes out with this worth."""
        seat, side = self.seat, self.form.side(self.seat)
        ended = self.only(rows)
        scored = ended.score(seat, points[rows])
        for other in range(self.form.seats):
            gain = scored if other in side else -ended.payments(other)
            self.points[ended.alive, other] = gain

    def only(self, rows: NDArray[np.bool_] | Counts) -> "PoukuTables":
        """Return a part of the deals; their points are written to the same array."""
        part = copy(self)
        for name in ("hands", "fields", "laid", "stock", "alive"):
            setattr(part, name, getattr(self, name)[rows])
        part.moved = list(self.moved)
        return part

    def keeps(self) -> tuple[Counts, Points, Points]:
        """Return the best keep of a group by the acting seat, and what it gains.

        Returns:
            Its rank, its points with the point cards, and by how much they exceed those of the
            rank in the hand and the reference fields. Where no keep is possible the gain is
            negative.
        """
        values, seat = self.form.values, self.seat
        worth = np.array([0, 0, values.pair, values.three, values.four])
        hand, reference = self.hands[:, seat], self.reference(seat)
        taken = np.delete(self.fields, seat, axis=1)
        number = taken.sum(axis=1)
        if self.form.seats > GIVERS + 1:
            number -= taken.min(axis=1)
        is_point = values.point * (np.arange(RANKS) == self.point)
        points = worth[np.minimum(number + 1, 4)] + is_point * (number + 1)
        known = np.where(reference > 0, worth[np.minimum(hand + reference, 4)], 0)
        gain = points - known - is_point * (hand + reference)
        gain[(hand == 0) | (number == 0) | (self.laid[:, [seat]] > 0)] = -1
        ranks = gain.argmax(axis=1)[:, None]
        best = (np.take_along_axis(array, ranks, 1)[:, 0] for array in (points, gain))
        return ranks[:, 0], *best

    def keep(self, rows: Points, ranks: Counts, points: Points) -> None:
        """Keep groups of the acting seat in some deals, from the fields of two other seats."""
        seat = self.seat
        self.hands[rows, seat, ranks] -= 1
        taken = self.fields[rows, :, ranks]
        taken[:, seat] = 0
        if self.form.seats > GIVERS + 1:
            others = [other for other in range(self.form.seats) if other != seat]
            least = taken[:, others].argmin(axis=1)
            taken[np.arange(len(rows)), np.array(others)[least]] = 0
        self.fields[rows, :, ranks] -= taken
        for side in self.form.side(seat):
            self.laid[rows, side] = points

    def play(self) -> Points:
        """Play all deals to their ends, and return their points by deal and seat."""
        tables = self
        while len(tables.alive) and tables.drawn < tables.stock.shape[1]:
            tables.draw()
            worth, out = tables.worth(tables.seat)
            if out.any():
                tables.go_out(out, worth)
                tables = tables.only(~out)
            if len(tables.alive):
                kept, points, gain = tables.keeps()
                if len(rows := np.flatnonzero(gain >= GAIN)):
                    tables.keep(rows, kept[rows], points[rows])
                ranks = tables.ratings(tables.seat).argmax(axis=1)
                tables.watch(tables, ranks)
                tables.discard(ranks)
        return self.points
