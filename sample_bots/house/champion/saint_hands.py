"""Values of poker hands of seven cards, for arrays of hands at once.

A card is a number: 4 * rank + suit, with rank 0 (the two) to 12; 52 stands for no card. The value
of a hand is its place among all values, from 0 to 1, weighted by how often seven cards have it.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Cards = NDArray[np.int64]
Numbers = NDArray[np.float64]

NONE = 52
KEYS = np.array(
    [0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181], dtype=np.int64
)
"""Sums of seven of these, each at most four times, are different for different ranks.

The numbers are those of SpecialKEval (Kenneth J. Shackleton).
"""
_LARGEST = 7825760
_STRAIGHTS = [sum(1 << (rank % 13) for rank in range(low, low + 5)) for low in range(-1, 9)]

KEY = np.append(np.repeat(KEYS, 4), 0)
"""The key of each card."""
RANK_OF = np.append(np.repeat(np.arange(13), 4), 0)
SUIT_OF = np.append(np.tile(np.arange(4), 13), 4)
BIT = np.append(1 << np.repeat(np.arange(13), 4), 0)


def _rank_counts() -> Iterator[tuple[int, ...]]:
    """Yield the numbers of cards of each rank in every hand of seven cards."""

    def filled(counts: list[int], left: int) -> Iterator[tuple[int, ...]]:
        if len(counts) == 12:
            if left <= 4:
                yield (*counts, left)
            return
        for count in range(min(4, left) + 1):
            yield from filled([*counts, count], left - count)

    return filled([], 7)


def _straight(mask: int) -> int:
    """Return 1 + the number of the best straight in a set of ranks; otherwise 0."""
    return next((n for n in range(10, 0, -1) if _STRAIGHTS[n - 1] & ~mask == 0), 0)


def _number(category: int, ranks: list[int]) -> int:
    """Return a hand as one number, greater for a better hand."""
    number = category
    for rank in (ranks + [0] * 5)[:5]:
        number = 13 * number + rank
    return number


def _of_ranks(counts: tuple[int, ...]) -> int:
    """Return the best hand of these ranks without a flush."""
    groups = sorted(((count, rank) for rank, count in enumerate(counts) if count), reverse=True)
    (most, first), (second, other) = groups[:2]
    singles = [rank for rank in range(12, -1, -1) if counts[rank]]
    if most == 4:
        return _number(7, [first, next(r for r in singles if r != first)])
    if most == 3 and second >= 2:
        return _number(6, [first, max(r for c, r in groups if c >= 2 and r != first)])
    if straight := _straight(sum(1 << rank for rank in singles)):
        return _number(4, [straight])
    if most == 3:
        return _number(3, [first, *[r for r in singles if r != first][:2]])
    if most == 2 and second == 2:
        return _number(2, [first, other, next(r for r in singles if r not in (first, other))])
    if most == 2:
        return _number(1, [first, *[r for r in singles if r != first][:3]])
    return _number(0, singles[:5])


def _of_flush(ranks: tuple[int, ...]) -> int:
    """Return the best hand of at least five ranks of one suit."""
    if straight := _straight(sum(1 << rank for rank in ranks)):
        return _number(8, [straight])
    return _number(5, sorted(ranks, reverse=True)[:5])


@cache
def tables() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the values by the sum of keys, and by the set of ranks of a flush."""
    numbers, weights = [], []
    every = list(_rank_counts())
    ways = (1, 4, 6, 4, 1)
    for counts in every:
        weight = 1
        for count in counts:
            weight *= ways[count]
        numbers.append(_of_ranks(counts))
        weights.append(weight)
    flushes = {}
    for size in (5, 6, 7):
        for ranks in combinations(range(13), size):
            mask = sum(1 << rank for rank in ranks)
            flushes[mask] = _of_flush(ranks)
            numbers.append(flushes[mask])
            weights.append(4 * comb(39, 7 - size))
    distinct, at = np.unique(numbers, return_inverse=True)
    share = np.cumsum(np.bincount(at, weights=np.array(weights, dtype=np.float64)))
    places = (share / share[-1]).astype(np.float32)
    of_ranks = np.zeros(_LARGEST, dtype=np.float32)
    of_ranks[np.array(every) @ KEYS] = places[at[: len(every)]]
    of_flush = np.zeros(1 << 13, dtype=np.float32)
    of_flush[list(flushes)] = places[np.searchsorted(distinct, list(flushes.values()))]
    return of_ranks, of_flush


def flush_masks(river: Cards) -> tuple[Cards, Cards]:
    """Return the suit with at least three cards in each river, and the set of its ranks.

    Without such a suit, the suit is 5 and the set is empty.
    """
    suits = SUIT_OF[river]
    counts = (suits[..., None] == np.arange(4)).sum(axis=-2)
    suit = np.where(counts.max(axis=-1) >= 3, counts.argmax(axis=-1), 5)
    mask = (BIT[river] * (suits == suit[..., None])).sum(axis=-1)
    return suit, mask


def pair_values(river: Cards, first: Cards, second: Cards) -> Numbers:
    """Return the values of pairs with rivers.

    Args:
        river: five cards for each row.
        first: the first cards of the pairs of each row.
        second: their second cards.
    """
    of_ranks, of_flush = tables()
    suit, mask = flush_masks(river)
    values = of_ranks[KEY[river].sum(axis=-1)[:, None] + KEY[first] + KEY[second]]
    suit = suit[:, None]
    held = (
        mask[:, None]
        | BIT[first] * (SUIT_OF[first] == suit)
        | BIT[second] * (SUIT_OF[second] == suit)
    )
    return np.asarray(np.maximum(values, of_flush[held]), dtype=np.float64)
