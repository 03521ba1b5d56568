"""Points and payments of Pouku for arrays of positions at once.

Suits do not matter, so cards are counts by rank: 13 numbers, from the two to the ace. Points and
yaku are counted together, as ``ONE * points + yaku``, so of equal points more yaku are better.

The best set of yaku is estimated from below. Straights are taken one after another: in one plan the
straight that gains most, in another plan only straights of four. The better plan counts.
`tests/sample_bots/test_champion_pouku.py` has the share of positions where the referee finds more.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from referee.games.pouku.yaku import Values

Counts = NDArray[np.int64]
Points = NDArray[np.int64]

RANKS = 13
ONE = 64
"""One point; lower numbers count yaku."""
BONUS_YAKU_COUNT = 4
"""Number of yaku that the bonus requires."""
MOST = 3
"""Number of straights that are tried for a set."""
_PLACES = np.array([12, *range(13)])
"""The rank of each place of a straight: the ace is both below the two and above the king."""
_MISSING = 100
_SIZES = 5
"""Numbers of cards of a rank: 0 to 4."""


@dataclass(frozen=True)
class GroupTables:
    """Values of the cards of one rank, by 5 * (number in the hand) + number in the fields."""

    groups: Points
    """The best groups with field cards."""
    alone: Points
    """The additional value of the group of the hand's cards alone."""
    cost: Points
    """The points of groups lost by the straight that takes a field card."""
    owed: Points
    """The dearest groups of field cards (U-6.2), by their number."""


@cache
def group_tables(values: Values) -> GroupTables:
    """Return the tables for a table of points."""

    def best(hand: int, fields: int) -> int:
        """Return the best partition of the field cards into groups."""
        options = [best(hand, fields - 1)] if fields else [0]
        options += [
            ONE * values.group(size) + 1 + best(hand, fields - used)
            for used in range(1, fields + 1)
            for size in range(max(2, used), min(4, used + hand) + 1)
        ]
        return max(options)

    groups, alone, cost = np.zeros((3, _SIZES, _SIZES), dtype=np.int64)
    for hand in range(_SIZES):
        for fields in range(_SIZES):
            groups[hand, fields] = best(hand, fields)
            if hand > 1:
                made = ONE * max(values.group(size) for size in range(2, hand + 1)) + 1
                alone[hand, fields] = max(0, made + best(hand - 1, fields) - groups[hand, fields])
            if not hand:
                cost[0, fields] = (best(0, fields) - best(0, fields - 1)) // ONE if fields else 0
    cost[0, 0] = _MISSING
    pair, three, four = (values.group(size) for size in (2, 3, 4))
    owed = np.array([0, 0, pair, max(pair, three), max(2 * pair, pair + three, four)])
    return GroupTables(groups.ravel(), alone.ravel(), cost.ravel(), owed)


def set_worth(values: Values, hand: Counts, fields: Counts) -> Points:
    """Return ``ONE * points + yaku`` of a good set of each row."""
    tables = group_tables(values)
    keys = _SIZES * hand + fields
    total = tables.groups[keys].sum(axis=1) + tables.alone[keys].max(axis=1)
    rows = np.flatnonzero(_has_run((keys > 0)[:, _PLACES]))
    if len(rows):
        for longest in (True, False):
            made = _with_straights(values, hand[rows], fields[rows], longest)
            total[rows] = np.maximum(total[rows], made)
    return np.asarray(total)


def _has_run(available: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether four consecutive places are available in each row."""
    pairs = available[:, :-1] & available[:, 1:]
    return np.asarray((pairs[:, :-2] & pairs[:, 2:]).any(axis=1))


def _with_straights(values: Values, hand: Counts, fields: Counts, longest: bool) -> Points:
    """Return the best value of each row with up to :data:`MOST` straights."""
    tables = group_tables(values)
    keys = _SIZES * hand + fields
    best = np.zeros(len(hand), dtype=np.int64)
    straights = np.zeros(len(hand), dtype=np.int64)
    rows = np.arange(len(hand))
    for _ in range(MOST):
        cost = tables.cost[keys][:, _PLACES]
        first, last, gain = _straight(values, cost, longest)
        # Only rows with a straight go on; the others are complete.
        on = gain >= 0
        if not on.any():
            break
        rows, keys, first, last = rows[on], keys[on], first[on], last[on]
        places = np.arange(len(_PLACES))
        used = (places >= first[:, None]) & (places <= last[:, None])
        taken = used[:, 1:]
        taken[:, -1] |= used[:, 0]
        keys = keys - (taken & (keys < _SIZES) & (keys > 0))
        straights[rows] += ONE * (values.straight + last - first - 3) + 1
        total = tables.groups[keys].sum(axis=1) + tables.alone[keys].max(axis=1)
        best[rows] = np.maximum(best[rows], total + straights[rows])
    return best


def _straight(values: Values, cost: Points, longest: bool) -> tuple[Points, Points, Points]:
    """Return the first and last place of the best straight, and its gain after costs.

    Args:
        cost: the points lost by using a place.
        longest: whether the straight may have more than four cards.
    """
    sums = np.zeros((len(cost), len(_PLACES) + 1), dtype=np.int64)
    np.cumsum(1 - cost, axis=1, out=sums[:, 1:])
    rows = np.arange(len(cost))
    if longest:
        lowest = np.minimum.accumulate(sums[:, :-4], axis=1)
        gains = sums[:, 4:] - lowest
        at = gains.argmax(axis=1)
        # The latest place with the lowest sum begins the shortest of the best straights.
        low = lowest[rows, at][:, None]
        starts = (sums[:, :-4] == low) & (np.arange(sums.shape[1] - 4) <= at[:, None])
        first = starts.shape[1] - 1 - starts[:, ::-1].argmax(axis=1)
    else:
        gains = sums[:, 4:] - sums[:, :-4]
        at = first = gains.argmax(axis=1)
    return first, at + 3, gains[rows, at] + values.straight - 4


def owed(values: Values, fields: Counts, point: int) -> Points:
    """Return the payment for reference fields, before doubling (U-6.2)."""
    total = group_tables(values).owed[fields].sum(axis=1) + values.point * fields[:, point]
    rows = np.flatnonzero(_has_run((fields > 0)[:, _PLACES]))
    left = fields[rows]
    for _ in range(MOST):
        if not len(rows):
            break
        cost = np.where(left > 0, 0, _MISSING)[:, _PLACES]
        first, last, gain = _straight(values, cost, True)
        on = gain > 0
        rows, first, last = rows[on], first[on], last[on]
        total[rows] += values.straight + last - first - 3
        places = np.arange(len(_PLACES))
        used = (places >= first[:, None]) & (places <= last[:, None])
        taken = used[:, 1:]
        taken[:, -1] |= used[:, 0]
        left = left[on] - taken
    return np.asarray(total)
