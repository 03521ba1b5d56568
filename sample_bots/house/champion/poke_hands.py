"""Hands of Poke as numpy arrays: their values, their draws, and the solution of their tricks.

A card is a number: 4 * rank + suit, with rank 0 (the two) to 12. A hand is a row of five cards.
"""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Cards = NDArray[np.int64]
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Tricks = NDArray[np.int8]

CATEGORIES = 9
HIGH_CARD, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(
    CATEGORIES
)
BONUS = np.array([0, 50, 100, 200, 300, 400, 500, 600, 750])
"""Points above the line for the better hand, by category."""
ROYAL_FLUSH = 1000
KINDS = CATEGORIES * 13
"""Number of kinds of hands: a category and the rank of its largest group."""

STAND, FLUSH_DRAW, STRAIGHT_DRAW = 0, 4, 5
WAYS = 6
"""Ways to draw: stand; discard the lowest one, two or three single cards; the card that a flush
lacks; the card that an open straight lacks."""
ILLEGAL = 99

_PLACES = 13 ** np.arange(4, -1, -1)
_TOPS = np.full(1 << 13, -1)
for _top in range(3, 13):
    _TOPS[sum(1 << (_rank % 13) for _rank in range(_top - 4, _top + 1))] = _top
_NUMBERS = np.array([[comb(rank + at, at + 1) for rank in range(13)] for at in range(5)])
RANK_HANDS = comb(17, 5)
"""Number of hands that differ in ranks."""


def in_groups(hands: Cards) -> tuple[Cards, Cards]:
    """Return hands with the smallest group first, then the lowest rank, and the group sizes."""
    ranks = hands >> 2
    sizes = (ranks[..., :, None] == ranks[..., None, :]).sum(axis=-1)
    order = np.argsort(sizes * 64 + hands, axis=-1)
    return np.take_along_axis(hands, order, axis=-1), np.take_along_axis(sizes, order, axis=-1)


def hand_values(hands: Cards, sizes: Cards) -> Cards:
    """Return the values of hands from :func:`in_groups`; a better hand has a greater value."""
    ranks, suits = hands >> 2, hands & 3
    flush = (suits == suits[..., :1]).all(axis=-1)
    top = _TOPS[np.where(sizes[..., -1] == 1, (1 << ranks).sum(axis=-1), 0)]
    largest, second = sizes[..., -1], sizes[..., 0]
    pairs = (sizes == 2).sum(axis=-1)
    category = np.where(largest == 4, FOUR, 0)
    category = np.where(largest == 3, np.where(second == 2, FULL_HOUSE, THREE), category)
    category = np.where(largest == 2, np.where(pairs == 4, TWO_PAIRS, PAIR), category)
    straight = top >= 0
    category = np.where(flush, FLUSH, category)
    category = np.where(straight, np.where(flush, STRAIGHT_FLUSH, STRAIGHT), category)
    within = np.where(straight, top * 13**4, (ranks[..., ::-1] * _PLACES).sum(axis=-1))
    return np.asarray(category * 13**5 + within)


def bonuses(values: Cards) -> Cards:
    """Return the points above the line for hands with these values if they are better."""
    category = values // 13**5
    royal = (category == STRAIGHT_FLUSH) & (values % 13**5 == 12 * 13**4)
    return np.asarray(np.where(royal, ROYAL_FLUSH, BONUS[category]))


def kinds(values: Cards) -> Cards:
    """Return the category and the first deciding rank of hands as one number below KINDS."""
    return np.asarray(values // 13**4)


def numbers_of_ranks(hands: Cards) -> Cards:
    """Return the ranks of hands as a number below RANK_HANDS."""
    ranks = np.sort(hands >> 2, axis=-1)
    return np.asarray(_NUMBERS[np.arange(5), ranks].sum(axis=-1))


def odd_cards(hands: Cards, sizes: Cards) -> tuple[Cards, Cards]:
    """Return the place of the card that a flush and that an open straight lacks; -1 for none."""
    ranks, suits = hands >> 2, hands & 3
    same = (suits[..., :, None] == suits[..., None, :]).sum(axis=-1)
    flush = np.where((same == 4).sum(axis=-1) == 4, (same == 1).argmax(axis=-1), -1)
    straight = np.full(flush.shape, -1)
    for odd in range(5):
        rest = np.sort(np.delete(ranks, odd, axis=-1), axis=-1)
        fits = (np.diff(rest, axis=-1) == 1).all(axis=-1) & (rest[..., -1] < 12)
        straight = np.where(fits & (straight < 0), odd, straight)
    return np.asarray(flush), np.asarray(straight)


def allowed_ways(sizes: Cards, flush: Cards, straight: Cards) -> Flags:
    """Return the allowed ways to draw, in a new last axis."""
    ways = np.ones((*flush.shape, WAYS), dtype=bool)
    ways[..., 1:4] = sizes[..., :3] == 1
    ways[..., FLUSH_DRAW] = flush >= 0
    ways[..., STRAIGHT_DRAW] = straight >= 0
    return ways


def discarded(ways: Cards, flush: Cards, straight: Cards) -> Flags:
    """Return the places of the cards that ways to draw discard."""
    places = np.arange(5)
    lowest = (places < ways[..., None]) & (ways < FLUSH_DRAW)[..., None]
    odd = np.where(ways == FLUSH_DRAW, flush, np.where(ways == STRAIGHT_DRAW, straight, -1))
    return np.asarray(lowest | (places == odd[..., None]))


@cache
def _subsets(cards: int, size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(combinations(range(cards), size))


@cache
def steps(cards: int, held: int, size: int) -> tuple[Cards, Cards]:
    """Return what each subset of ``held`` cards can play, and the number of the rest.

    The first array has the places of the played cards, by subset and choice.
    """
    rests = {rest: number for number, rest in enumerate(_subsets(cards, held - size))}
    played, after = [], []
    for subset in _subsets(cards, held):
        choices = list(combinations(subset, size))
        played.append(choices)
        after.append([rests[tuple(c for c in subset if c not in choice)] for choice in choices])
    return np.array(played), np.array(after)


Solved = list[tuple[Tricks, Tricks]]
"""By number of cards held: the tricks of the first seat if it leads, by its subset, the other
seat's subset and world; and the tricks of the other seat if that leads, with its subset first."""


def solve(mine: Cards, theirs: Cards, must_beat: bool) -> Solved:
    """Solve the tricks of open hands, by subsets of their cards.

    Args:
        mine: the ranks of the first seat, by card and world.
        theirs: the ranks of the other seat.
        must_beat: whether a seat that can beat a lead must do so.
    """
    cards, worlds = mine.shape
    nothing = np.zeros((1, 1, worlds), dtype=np.int8)
    solved: Solved = [(nothing, nothing)]
    first, other = mine.astype(np.int8), theirs.astype(np.int8)
    for held in range(1, cards + 1):
        leads = _leads(first, other, held, solved, must_beat)
        replies = _leads(other, first, held, [(b, a) for a, b in solved], must_beat)
        solved.append((leads, replies))
    return solved


def _leads(mine: Tricks, theirs: Tricks, held: int, solved: Solved, must_beat: bool) -> Tricks:
    """Return the tricks of the leading seat."""
    best: Tricks | None = None
    for size in range(1, min(4, held) + 1):
        values = lead_values(mine, theirs, held, size, solved, must_beat).max(axis=1)
        best = values if best is None else np.maximum(best, values)
    assert best is not None
    return best


def lead_values(
    mine: Tricks, theirs: Tricks, held: int, size: int, solved: Solved, must_beat: bool
) -> Tricks:
    """Return the leading seat's tricks, by its subset, its lead, the other's subset and world.

    An illegal lead has the value -ILLEGAL.
    """
    cards = mine.shape[0]
    played, after = steps(cards, held, size)
    ranks, same = mine[played[..., 0]], (mine[played] == mine[played[..., :1]]).all(axis=2)
    replies = theirs[played[..., 0]]
    one_rank = (theirs[played] == theirs[played[..., :1]]).all(axis=2)
    beats = replies[None, None] > ranks[:, :, None, None]
    if size > 1:
        beats &= one_rank[None, None]
    a, b = after[:, :, None, None], after[None, None]
    lost = np.int8(held - size) - solved[held - size][1][b, a]
    won = np.int8(size) + solved[held - size][0][a, b]
    values = np.where(beats, lost, won)
    if must_beat:
        can = beats.any(axis=3, keepdims=True)
        values[can & ~beats] = ILLEGAL
    values = np.asarray(values.min(axis=3))
    if size > 1:
        values[np.broadcast_to(~same[:, :, None], values.shape)] = -ILLEGAL
    return values
