"""Points and payments of Pouku for arrays of positions at once.

Suits do not matter, so cards are counts by rank: 13 numbers, from the two to the ace. A *combined
value* is ``POINT_UNIT * points + yaku``, so of equal points more yaku are better.

The best set of yaku is estimated from below. Straights are taken one after another: in one plan the
straight that gains most, in another plan only straights of four. The better plan counts.
`tests/sample_bots/test_champion_pouku.py` has the share of positions where the referee finds more.

A *place* is a position in a straight. There are 14: the ace is both below the two and above the
king.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from referee.games.pouku.yaku import SHORTEST, Values

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

RANKS = 13
POINT_UNIT = 64
"""One point in a combined value; smaller numbers count yaku."""
BONUS_YAKU_COUNT = 4
"""Number of yaku that the bonus requires."""
MAX_STRAIGHTS = 3
"""Straights that are tried for a set, at most."""
_RANK_OF_PLACE = np.array([12, *range(RANKS)])
_MISSING_COST = 100
"""Cost of a place without a card, which exceeds the points of every straight."""
_CARD_COUNTS = 5
"""Different numbers of cards of a rank: 0 to 4. A rank has the key
``_CARD_COUNTS * (cards in the hand) + (cards in the fields)``."""


@dataclass(frozen=True)
class GroupTables:
    """Values of the cards of one rank, by key (25 elements)."""

    with_fields: IntArray
    """Combined value of the best groups with field cards."""
    hand_only: IntArray
    """Combined value that the group of the hand's cards alone adds."""
    straight_cost: IntArray
    """Points of groups that are lost if a straight takes a field card of the rank; 0 if it takes a
    hand card."""
    owed: IntArray
    """Points of the dearest groups of field cards (rule U-6.2), by their number: 5 elements."""


@cache
def group_tables(values: Values) -> GroupTables:
    """Return the tables for a table of points."""

    def best_partition(hand: int, fields: int) -> int:
        """Return the best partition of the field cards into groups, as a combined value.

        A field card is in no group, or ``used`` field cards form a group of up to four cards with
        cards of the hand. The hand's cards may be used again in each group.
        """
        options = [best_partition(hand, fields - 1)] if fields else [0]
        options += [
            POINT_UNIT * values.group(size) + 1 + best_partition(hand, fields - used)
            for used in range(1, fields + 1)
            for size in range(max(2, used), min(4, used + hand) + 1)
        ]
        return max(options)

    shape = (3, _CARD_COUNTS, _CARD_COUNTS)
    with_fields, hand_only, straight_cost = np.zeros(shape, dtype=np.int64)
    for hand in range(_CARD_COUNTS):
        for fields in range(_CARD_COUNTS):
            best = best_partition(hand, fields)
            with_fields[hand, fields] = best
            if hand > 1:
                # The hand's own group costs one card for the other groups.
                own_points = max(values.group(size) for size in range(2, hand + 1))
                with_own = POINT_UNIT * own_points + 1 + best_partition(hand - 1, fields)
                hand_only[hand, fields] = max(0, with_own - best)
            if not hand and fields:
                lost = best - best_partition(0, fields - 1)
                straight_cost[0, fields] = lost // POINT_UNIT
    straight_cost[0, 0] = _MISSING_COST
    pair, three, four = (values.group(size) for size in (2, 3, 4))
    owed = np.array([0, 0, pair, max(pair, three), max(2 * pair, pair + three, four)])
    return GroupTables(with_fields.ravel(), hand_only.ravel(), straight_cost.ravel(), owed)


def set_values(values: Values, hand: IntArray, fields: IntArray) -> IntArray:
    """Return the combined value of a good set of each row.

    Args:
        values: the table of points.
        hand: counts of the hand, shape (rows, RANKS).
        fields: counts of the reference fields, the same shape.
    """
    keys = _CARD_COUNTS * hand + fields
    total = _groups_value(values, keys)
    rows = np.flatnonzero(_has_straight((keys > 0)[:, _RANK_OF_PLACE]))
    if len(rows):
        for allow_longer in (True, False):
            value = _value_with_straights(values, keys[rows], allow_longer)
            total[rows] = np.maximum(total[rows], value)
    return np.asarray(total)


def _groups_value(values: Values, keys: IntArray) -> IntArray:
    """Return the combined value of the best groups; only one rank has a group of hand cards."""
    tables = group_tables(values)
    return np.asarray(tables.with_fields[keys].sum(axis=1) + tables.hand_only[keys].max(axis=1))


def _has_straight(available: BoolArray) -> BoolArray:
    """Return whether four consecutive places are available, by row; shape (rows, 14) to (rows,)."""
    pairs = available[:, :-1] & available[:, 1:]
    return np.asarray((pairs[:, :-2] & pairs[:, 2:]).any(axis=1))


def _value_with_straights(values: Values, keys: IntArray, allow_longer: bool) -> IntArray:
    """Return the best combined value of each row with at least one straight; 0 without one.

    Args:
        values: the table of points.
        keys: the keys of all ranks, shape (rows, RANKS).
        allow_longer: whether straights may have more than four cards.
    """
    tables = group_tables(values)
    best = np.zeros(len(keys), dtype=np.int64)
    straights = np.zeros(len(keys), dtype=np.int64)  # combined value of the taken straights
    rows = np.arange(len(keys))
    for _ in range(MAX_STRAIGHTS):
        cost = tables.straight_cost[keys][:, _RANK_OF_PLACE]
        first, last, gain = _best_straight(values, cost, allow_longer)
        # Only rows with a straight continue; the others are complete.
        has_straight = gain >= 0
        if not has_straight.any():
            break
        rows, keys = rows[has_straight], keys[has_straight]
        first, last = first[has_straight], last[has_straight]
        # A straight uses a field card only if the hand has no card of the rank (key below 5).
        taken = _ranks_of_straight(first, last)
        keys = keys - (taken & (keys < _CARD_COUNTS) & (keys > 0))
        straights[rows] += POINT_UNIT * _straight_points(values, first, last) + 1
        best[rows] = np.maximum(best[rows], _groups_value(values, keys) + straights[rows])
    return best


def _straight_points(values: Values, first: IntArray, last: IntArray) -> IntArray:
    """Return the points of straights from the first to the last place."""
    return values.straight + last - first - (SHORTEST - 1)


def _ranks_of_straight(first: IntArray, last: IntArray) -> BoolArray:
    """Return whether each rank is part of a straight, shape (rows, RANKS)."""
    places = np.arange(len(_RANK_OF_PLACE))
    used = (places >= first[:, None]) & (places <= last[:, None])
    taken = used[:, 1:]
    taken[:, -1] |= used[:, 0]  # both places of the ace
    return taken


def _best_straight(
    values: Values, cost: IntArray, allow_longer: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first and last place of the best straight of each row, and its gain.

    The gain is the points of the straight minus the costs of its places. Each place adds one point
    minus its cost. So the gain of the places a to b is sums[b + 1] - sums[a] plus a constant.

    Args:
        values: the table of points.
        cost: the points lost by using a place, shape (rows, 14).
        allow_longer: whether the straight may have more than four cards.
    """
    sums = np.zeros((len(cost), len(_RANK_OF_PLACE) + 1), dtype=np.int64)
    np.cumsum(1 - cost, axis=1, out=sums[:, 1:])
    rows = np.arange(len(cost))
    # Column i of `gains` is a straight whose last place is i + 3.
    if allow_longer:
        lowest = np.minimum.accumulate(sums[:, :-SHORTEST], axis=1)
        gains = sums[:, SHORTEST:] - lowest
        best = gains.argmax(axis=1)
        # The latest place with the lowest sum begins the shortest of the best straights.
        low = lowest[rows, best][:, None]
        starts = (sums[:, :-SHORTEST] == low) & (
            np.arange(sums.shape[1] - SHORTEST) <= best[:, None]
        )
        first = starts.shape[1] - 1 - starts[:, ::-1].argmax(axis=1)
    else:
        gains = sums[:, SHORTEST:] - sums[:, :-SHORTEST]
        best = first = gains.argmax(axis=1)
    gain = gains[rows, best] + values.straight - SHORTEST
    return first, best + SHORTEST - 1, gain


def payment(values: Values, fields: IntArray, point_rank: int) -> IntArray:
    """Return the payment for reference fields, before doubling (rule U-6.2), by row.

    Args:
        values: the table of points.
        fields: counts of the reference fields, shape (rows, RANKS).
        point_rank: the rank of the point card.
    """
    groups = group_tables(values).owed[fields].sum(axis=1)
    total = groups + values.point * fields[:, point_rank]
    rows = np.flatnonzero(_has_straight((fields > 0)[:, _RANK_OF_PLACE]))
    left = fields[rows]
    for _ in range(MAX_STRAIGHTS):
        if not len(rows):
            break
        cost = np.where(left > 0, 0, _MISSING_COST)[:, _RANK_OF_PLACE]
        first, last, gain = _best_straight(values, cost, True)
        has_straight = gain > 0
        rows, first, last = rows[has_straight], first[has_straight], last[has_straight]
        total[rows] += _straight_points(values, first, last)
        left = left[has_straight] - _ranks_of_straight(first, last)
    return np.asarray(total)
