"""Plays many deals of Pouku at once with a learned policy, as numpy arrays.

In all deals the same seat acts. Suits do not matter, so cards are counts by rank. Every rank of a
hand has a learned rating as the next discard: a sum over its features. `train_pouku.py` fits it.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pouku_points import (
    BONUS_YAKU_COUNT,
    POINT_UNIT,
    RANKS,
    BoolArray,
    IntArray,
    payment,
    set_values,
)

from referee.games.pouku.legal import GIVERS
from referee.games.pouku.state import DOUBLED, NEEDED, NEEDED_IN_TEAMS, PoukuForm

FloatArray = NDArray[np.float64]

FEATURE_SIZES = (25, 25, 25, 5, 5, 5, RANKS)
"""Numbers of values of the seven features of a rank, see :func:`features`."""
FEATURES = sum(FEATURE_SIZES)
_FEATURE_OFFSETS = np.cumsum((0, *FEATURE_SIZES[:-1]))
CARD_COUNTS = 5
"""Different numbers of cards of a rank: 0 to 4."""
NEIGHBOURS = 2
"""Ranks above and below a rank that count as its neighbours, on each side."""
MAX_TURNS = 24
"""Simulated turns of a deal, at most; a longer deal counts as void."""
MIN_KEEP_GAIN = 1
"""Points that a keep must gain in a playout."""
NOT_HELD = -1e9
"""Rating of a rank that is not in the hand."""


@dataclass(frozen=True)
class PoukuWeights:
    """Learned tables for a form (number of seats, teams). The names are those in `pouku.npz`."""

    discards: FloatArray
    """The rating of a discard in points, by feature: shape (FEATURES,)."""
    leads: FloatArray
    """Share of deals by the change of the lead over another side; the middle is no change."""


def stored_name(form: PoukuForm) -> str:
    """Return the suffix of the names of a form's tables."""
    return "teams" if form.teams else str(form.seats)


def load(path: Path, form: PoukuForm) -> PoukuWeights:
    """Read the weights for a form."""
    with np.load(path) as stored:
        name = stored_name(form)
        return PoukuWeights(*(stored[f"{part}_{name}"] for part in ("discards", "leads")))


def neighbours(cards: IntArray) -> IntArray:
    """Return how many of the four neighbours of each rank are present, shape (rows, RANKS)."""
    # The columns are two empty places, the ranks, and two empty places.
    present = np.zeros((len(cards), RANKS + 2 * NEIGHBOURS), dtype=np.int64)
    present[:, NEIGHBOURS:-NEIGHBOURS] = cards > 0
    present[:, 1] = present[:, RANKS + 1]  # the ace is below the two as well
    return np.asarray(present[:, :-4] + present[:, 1:-3] + present[:, 3:-1] + present[:, 4:])


def features(
    hand: IntArray, fields: IntArray, all_fields: IntArray, own_field: IntArray, point_rank: int
) -> IntArray:
    """Return the indices of the seven features of every rank as a discard.

    Args:
        hand: counts of the hand, shape (rows, RANKS).
        fields: counts of the reference fields, the same shape.
        all_fields: counts of all fields.
        own_field: counts of the seat's field.
        point_rank: the rank of the point card.

    Returns:
        Shape (rows, RANKS, 7).
    """
    other_fields = np.minimum(all_fields - fields, CARD_COUNTS - 1)
    is_point = np.broadcast_to(np.arange(RANKS) == point_rank, hand.shape)
    columns = np.stack(
        [
            CARD_COUNTS * hand + fields,
            CARD_COUNTS * other_fields + fields,
            CARD_COUNTS * np.minimum(own_field, CARD_COUNTS - 1) + hand,
            neighbours(hand + fields),
            neighbours(hand),
            neighbours(other_fields),
            is_point * np.minimum(1 + all_fields + hand, RANKS - 1),
        ],
        axis=2,
    )
    return np.asarray(columns + _FEATURE_OFFSETS)


class PoukuDeals:
    """Deals of Pouku in which the same seat acts.

    Attributes:
        references: for each seat the two seats whose fields it refers to.
        needed: points that are needed to go out.
        hands: counts, shape (deals, seats, RANKS).
        fields: counts, the same shape.
        kept_points: points of the kept yaku with its point cards, shape (deals, seats); 0 without
            one. A teammate's counts for both.
        stock: the ranks to be drawn, shape (deals, turns).
        drawn: cards drawn so far.
        seat: the seat that acts next.
        moved: whether each seat has had a turn.
        points: the points of the finished deals, shape (all deals, seats).
        deal_numbers: for each unfinished deal its row in ``points``.
        watch: receives the deals before each discard, and the discarded ranks, which it may
            change; for training.
    """

    def __init__(self, form: PoukuForm, point_rank: int, weights: PoukuWeights) -> None:
        self.form, self.point_rank, self.weights = form, point_rank, weights
        self.references = [list(form.refers_to(seat)) for seat in range(form.seats)]
        self.needed = NEEDED_IN_TEAMS if form.teams else NEEDED
        self.hands = self.fields = np.zeros((0, form.seats, RANKS), dtype=np.int64)
        self.kept_points = np.zeros((0, form.seats), dtype=np.int64)
        self.stock = np.zeros((0, 0), dtype=np.int64)
        self.points = np.zeros((0, form.seats), dtype=np.int64)
        self.deal_numbers = np.arange(0)
        self.drawn = 0
        self.seat = 0
        self.moved = [False] * form.seats
        self.watch: Callable[[PoukuDeals, IntArray], None] = lambda deals, ranks: None

    def begin(self) -> None:
        """Prepare for playing; all deals are unfinished."""
        self.points = np.zeros((len(self.hands), self.form.seats), dtype=np.int64)
        self.deal_numbers = np.arange(len(self.hands))

    def only(self, rows: BoolArray | IntArray) -> "PoukuDeals":
        """Return a part of the deals; their points are written to the same array."""
        part = copy(self)
        for name in ("hands", "fields", "kept_points", "stock", "deal_numbers"):
            setattr(part, name, getattr(self, name)[rows])
        part.moved = list(self.moved)
        return part

    # Points

    def reference(self, seat: int) -> IntArray:
        """Return the counts of a seat's reference fields, shape (deals, RANKS)."""
        near, far = self.references[seat]
        return np.asarray(self.fields[:, near] + self.fields[:, far])

    def offers(self, seat: int) -> tuple[IntArray, BoolArray]:
        """Return the points of a seat's best set, and whether it may go out, by deal."""
        values, hand, fields = self.form.values, self.hands[:, seat], self.reference(seat)
        points, yaku = np.divmod(set_values(values, hand, fields), POINT_UNIT)
        kept = self.kept_points[:, seat]
        point_cards = hand[:, self.point_rank] + fields[:, self.point_rank]
        points += values.point * point_cards + kept
        points += values.four_yaku * (yaku + (kept > 0) >= BONUS_YAKU_COUNT)
        return points, (points >= self.needed) & ((yaku > 0) | (kept == 0))

    def score(self, seat: int, points: IntArray) -> IntArray:
        """Return the score for going out with a set of these points."""
        if not self.moved[seat]:
            points = points + self.form.values.first_turn
        if self.form.teams:
            return points
        return np.where(points >= DOUBLED, 2 * points, points)

    def payments(self, seat: int) -> IntArray:
        """Return the payments of a seat, by deal."""
        kept = self.kept_points[:, seat]
        if self.form.teams:
            return kept
        for_fields = 2 * payment(self.form.values, self.reference(seat), self.point_rank)
        return np.asarray(for_fields + (2 if self.form.seats == 3 else 1) * kept)

    # Play

    def play(self) -> IntArray:
        """Play all deals to their ends, and return their points, shape (deals, seats)."""
        deals = self
        while len(deals.deal_numbers) and deals.drawn < deals.stock.shape[1]:
            deals.draw()
            points, can_go_out = deals.offers(deals.seat)
            if can_go_out.any():
                deals.go_out(can_go_out, points)
                deals = deals.only(~can_go_out)
            if len(deals.deal_numbers):
                kept_ranks, kept_points, gain = deals.best_keeps()
                if len(rows := np.flatnonzero(gain >= MIN_KEEP_GAIN)):
                    deals.keep(rows, kept_ranks[rows], kept_points[rows])
                ranks = deals.ratings(deals.seat).argmax(axis=1)
                deals.watch(deals, ranks)
                deals.discard(ranks)
        return self.points

    def draw(self) -> None:
        """Let the acting seat draw."""
        self.hands[np.arange(len(self.hands)), self.seat, self.stock[:, self.drawn]] += 1
        self.drawn += 1

    def go_out(self, rows: BoolArray, points: IntArray) -> None:
        """Finish deals: the acting seat goes out.

        Args:
            rows: whether each deal ends.
            points: the points of the seat's set, by deal.
        """
        seat, side = self.seat, self.form.side(self.seat)
        ended = self.only(rows)
        score = ended.score(seat, points[rows])
        for other in range(self.form.seats):
            gain = score if other in side else -ended.payments(other)
            self.points[ended.deal_numbers, other] = gain

    def ratings(self, seat: int) -> FloatArray:
        """Return the rating of each rank as a discard, shape (deals, RANKS)."""
        hand, own_field = self.hands[:, seat], self.fields[:, seat]
        all_fields = self.fields.sum(axis=1)
        indices = features(hand, self.reference(seat), all_fields, own_field, self.point_rank)
        ratings = self.weights.discards[indices].sum(axis=2)
        ratings[hand == 0] = NOT_HELD
        return np.asarray(ratings)

    def discard(self, ranks: IntArray) -> None:
        """Discard a card of the acting seat to its field; the next seat acts."""
        rows = np.arange(len(self.hands))
        self.hands[rows, self.seat, ranks] -= 1
        self.fields[rows, self.seat, ranks] += 1
        self.moved[self.seat] = True
        self.seat = (self.seat + 1) % self.form.seats

    # Keeps

    def best_keeps(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the best keep of a group by the acting seat, by deal.

        A keep consists of a card of the hand and all cards of its rank in the fields of others; if
        more than two others have a field, the field with the fewest cards of the rank is left out.

        Returns:
            Its rank; its points with the point cards; and its gain, by which they exceed the points
            of the rank in the hand and the reference fields. The gain is negative where no keep is
            possible.
        """
        values, seat = self.form.values, self.seat
        points_by_size = np.array([0, 0, values.pair, values.three, values.four])
        hand, reference = self.hands[:, seat], self.reference(seat)
        other_fields = np.delete(self.fields, seat, axis=1)
        taken = other_fields.sum(axis=1)
        if self.form.seats > GIVERS + 1:
            taken -= other_fields.min(axis=1)
        point_card = values.point * (np.arange(RANKS) == self.point_rank)
        points = points_by_size[np.minimum(taken + 1, 4)] + point_card * (taken + 1)
        without_keep = points_by_size[np.minimum(hand + reference, 4)]
        without_keep = np.where(reference > 0, without_keep, 0)
        gain = points - without_keep - point_card * (hand + reference)
        has_kept = self.kept_points[:, [seat]] > 0
        gain[(hand == 0) | (taken == 0) | has_kept] = -1
        ranks = gain.argmax(axis=1)[:, None]
        best_points, best_gain = (
            np.take_along_axis(array, ranks, 1)[:, 0] for array in (points, gain)
        )
        return ranks[:, 0], best_points, best_gain

    def keep(self, rows: IntArray, ranks: IntArray, points: IntArray) -> None:
        """Keep groups of the acting seat in some deals, see :meth:`best_keeps`.

        Args:
            rows: the deals.
            ranks: the rank of each group.
            points: the points of each group with the point cards.
        """
        seat = self.seat
        self.hands[rows, seat, ranks] -= 1
        taken = self.fields[rows, :, ranks]
        taken[:, seat] = 0
        if self.form.seats > GIVERS + 1:
            others = [other for other in range(self.form.seats) if other != seat]
            fewest = taken[:, others].argmin(axis=1)
            taken[np.arange(len(rows)), np.array(others)[fewest]] = 0
        self.fields[rows, :, ranks] -= taken
        for side in self.form.side(seat):
            self.kept_points[rows, side] = points
