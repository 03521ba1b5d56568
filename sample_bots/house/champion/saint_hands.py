"""Values of Saint Poker hands (the best five of seven cards), for arrays of hands at once.

A card is a number: 4 * rank + suit, with rank 0 (the two) to 12; 52 stands for no card. The value
of a hand is its percentile among all hands of seven cards, from 0 to 1.

Two tables contain the values:

- Without a flush, the ranks determine the value. Each rank has a key, and the sum of seven keys
  identifies the ranks. It is the index in the first table.
- With a flush, the set of ranks of its suit determines the value. As 13 bits, this set is the index
  in the second table.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

RANKS, SUITS = 13, 4
NO_CARD = 52
NO_FLUSH_SUIT = 5
"""Suit of a river without a possible flush; no card and no missing card has it."""
MIN_FLUSH_RIVER_CARDS = 3
"""Cards of one suit in a river that make a flush possible, because a pair adds at most two."""
RANK_KEYS = np.array(
    [0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181], dtype=np.int64
)
"""Sums of seven of these, each at most four times, are different for different ranks.

The numbers are those of SpecialKEval (Kenneth J. Shackleton).
"""
_KEY_SUMS = 7825760
"""Size of the table of key sums: the largest sum is four aces and three kings."""

# Attributes of each card; the last element is that of NO_CARD.
KEY_OF = np.append(np.repeat(RANK_KEYS, SUITS), 0)
RANK_OF = np.append(np.repeat(np.arange(RANKS), SUITS), 0)
SUIT_OF = np.append(np.tile(np.arange(SUITS), RANKS), SUITS)
RANK_BIT_OF = np.append(1 << np.repeat(np.arange(RANKS), SUITS), 0)

HIGH_CARD, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(9)
_STRAIGHT_MASKS = [sum(1 << (rank % RANKS) for rank in range(low, low + 5)) for low in range(-1, 9)]
"""Sets of ranks of the straights, the lowest (ace to five) first."""
_WAYS_TO_CHOOSE = (1, 4, 6, 4, 1)
"""Ways to choose 0 to 4 cards of a rank."""


def _rank_counts() -> Iterator[tuple[int, ...]]:
    """Yield the number of cards of each rank in every hand of seven cards."""

    def extended(counts: list[int], left: int) -> Iterator[tuple[int, ...]]:
        if len(counts) == RANKS - 1:
            if left <= 4:
                yield (*counts, left)
            return
        for count in range(min(4, left) + 1):
            yield from extended([*counts, count], left - count)

    return extended([], 7)


def _straight_number(mask: int) -> int:
    """Return the number of the best straight (1 to 10) in a set of ranks; 0 for none."""
    return next((n for n in range(10, 0, -1) if _STRAIGHT_MASKS[n - 1] & ~mask == 0), 0)


def _hand_number(category: int, ranks: list[int]) -> int:
    """Return a hand as one number, greater for a better hand.

    Args:
        category: one of the nine categories.
        ranks: at most five ranks (or the number of a straight) that decide between hands of the
            same category, the most important first.
    """
    number = category
    for rank in (ranks + [0] * 5)[:5]:
        number = RANKS * number + rank
    return number


def _number_without_flush(counts: tuple[int, ...]) -> int:
    """Return the number of the best hand of these rank counts, if there is no flush."""
    groups = sorted(((count, rank) for rank, count in enumerate(counts) if count), reverse=True)
    (largest, first), (second_largest, second) = groups[:2]
    ranks = [rank for rank in range(RANKS - 1, -1, -1) if counts[rank]]
    kickers = [rank for rank in ranks if rank != first]
    if largest == 4:
        return _hand_number(FOUR, [first, kickers[0]])
    if largest == 3 and second_largest >= 2:
        pair = max(rank for count, rank in groups if count >= 2 and rank != first)
        return _hand_number(FULL_HOUSE, [first, pair])
    if straight := _straight_number(sum(1 << rank for rank in ranks)):
        return _hand_number(STRAIGHT, [straight])
    if largest == 3:
        return _hand_number(THREE, [first, *kickers[:2]])
    if largest == 2 and second_largest == 2:
        kicker = next(rank for rank in kickers if rank != second)
        return _hand_number(TWO_PAIRS, [first, second, kicker])
    if largest == 2:
        return _hand_number(PAIR, [first, *kickers[:3]])
    return _hand_number(HIGH_CARD, ranks[:5])


def _number_with_flush(ranks: tuple[int, ...]) -> int:
    """Return the number of the best hand of at least five ranks of one suit."""
    if straight := _straight_number(sum(1 << rank for rank in ranks)):
        return _hand_number(STRAIGHT_FLUSH, [straight])
    return _hand_number(FLUSH, sorted(ranks, reverse=True)[:5])


@cache
def value_tables() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the values by the sum of keys, and by the set of ranks of a flush.

    Each hand counts by the number of ways to choose its suits. For a simple computation, these
    numbers ignore that some of the choices without a flush are flushes.
    """
    numbers, weights = [], []
    every_counts = list(_rank_counts())
    for counts in every_counts:
        weight = 1
        for count in counts:
            weight *= _WAYS_TO_CHOOSE[count]
        numbers.append(_number_without_flush(counts))
        weights.append(weight)
    flushes = {}
    for size in (5, 6, 7):
        for ranks in combinations(range(RANKS), size):
            mask = sum(1 << rank for rank in ranks)
            flushes[mask] = _number_with_flush(ranks)
            numbers.append(flushes[mask])
            # The other cards are of the 39 cards of other suits.
            weights.append(SUITS * comb(39, 7 - size))
    distinct, index = np.unique(numbers, return_inverse=True)
    by_number = np.bincount(index, weights=np.array(weights, dtype=np.float64))
    cumulative = np.cumsum(by_number)
    percentiles = (cumulative / cumulative[-1]).astype(np.float32)
    by_keys = np.zeros(_KEY_SUMS, dtype=np.float32)
    by_keys[np.array(every_counts) @ RANK_KEYS] = percentiles[index[: len(every_counts)]]
    by_flush = np.zeros(1 << RANKS, dtype=np.float32)
    flush_index = np.searchsorted(distinct, list(flushes.values()))
    by_flush[list(flushes)] = percentiles[flush_index]
    return by_keys, by_flush


def flush_masks(river: IntArray) -> tuple[IntArray, IntArray]:
    """Return the suit of a possible flush in each river, and the set of its ranks.

    Without such a suit, the suit is NO_FLUSH_SUIT and the set is empty.

    Args:
        river: cards in the last axis.
    """
    suits = SUIT_OF[river]
    counts = (suits[..., None] == np.arange(SUITS)).sum(axis=-2)
    is_possible = counts.max(axis=-1) >= MIN_FLUSH_RIVER_CARDS
    suit = np.where(is_possible, counts.argmax(axis=-1), NO_FLUSH_SUIT)
    mask = (RANK_BIT_OF[river] * (suits == suit[..., None])).sum(axis=-1)
    return suit, mask


def pair_values(river: IntArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return the values of pairs of cards with rivers, shape (rows, pairs).

    Args:
        river: five cards for each row, shape (rows, 5).
        first: the first card of each pair, shape (rows, pairs).
        second: the second card of each pair, the same shape.
    """
    by_keys, by_flush = value_tables()
    suit, mask = flush_masks(river)
    values = by_keys[KEY_OF[river].sum(axis=-1)[:, None] + KEY_OF[first] + KEY_OF[second]]
    suit = suit[:, None]
    # With fewer than five ranks of the suit, the table of flushes has the value 0.
    flush_ranks = (
        mask[:, None]
        | RANK_BIT_OF[first] * (SUIT_OF[first] == suit)
        | RANK_BIT_OF[second] * (SUIT_OF[second] == suit)
    )
    return np.asarray(np.maximum(values, by_flush[flush_ranks]), dtype=np.float64)
