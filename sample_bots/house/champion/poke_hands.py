"""Hands of Poke as numpy arrays: their values, their draws, and the solution of their tricks.

A card is a number: 4 * rank + suit, with rank 0 (the two) to 12. A hand is five cards in the last
axis of an array. Many functions need hands that are *sorted by group*, see :func:`sorted_by_group`.
"""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from referee.games.poke.state import BONUS, ROYAL_FLUSH

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
TrickArray = NDArray[np.int8]
"""Numbers of tricks, or ranks of cards, in small integers for speed."""
TrickSolution = list[tuple[TrickArray, TrickArray]]
"""The result of :func:`solve_tricks` by number of cards held (0 to 5).

Each element has two arrays of shape (subsets, subsets, worlds):

- the tricks of the first seat if it leads, by its subset and the other seat's subset;
- the tricks of the other seat if that leads, by its subset and the first seat's subset.
"""

RANKS = 13
HAND_SIZE = 5
CATEGORIES = 9
HIGH_CARD, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(
    CATEGORIES
)
CATEGORY_BONUS = np.array(list(BONUS.values()))
"""Points above the line for the better hand, by category."""
HAND_KINDS = CATEGORIES * RANKS
"""Number of kinds of hands: a category and the rank of its largest group."""
RANK_HANDS = comb(17, HAND_SIZE)
"""Number of multisets of five ranks, which include five cards of one rank."""
_CATEGORY_UNIT = RANKS**HAND_SIZE
"""Factor of the category in the value of a hand."""
_FIRST_RANK_UNIT = RANKS ** (HAND_SIZE - 1)
"""Factor of the first deciding rank in the value of a hand."""
_RANK_UNITS = RANKS ** np.arange(HAND_SIZE - 1, -1, -1)

STAND, FLUSH_DRAW, STRAIGHT_DRAW = 0, 4, 5
DRAW_CHOICES = 6
"""Considered draws: stand; discard the lowest one, two or three single cards; discard the card that
does not fit a flush of four; discard the card that does not fit an open straight of four."""
NO_POSITION = -1
ILLEGAL = 99
"""Number of tricks of an illegal play: for the leading seat with a minus sign."""
MAX_PLAY_SIZE = 4
"""Cards of one play in the tricks, at most."""


def _straight_tops() -> IntArray:
    """Return the top rank of the straight by set of five ranks (as bits); -1 for none."""
    tops = np.full(1 << RANKS, -1)
    for top in range(3, RANKS):
        tops[sum(1 << (rank % RANKS) for rank in range(top - 4, top + 1))] = top
    return tops


_STRAIGHT_TOP = _straight_tops()
_MULTISET_NUMBERS = np.array(
    [[comb(rank + place, place + 1) for rank in range(RANKS)] for place in range(HAND_SIZE)]
)
"""Summands of the number of a multiset (combinatorial number system), by place and rank."""


# Values


def sorted_by_group(hands: IntArray) -> tuple[IntArray, IntArray]:
    """Sort hands by group: the smallest group first, then the lowest rank.

    Returns:
        The hands, and for each card the size of its group (cards of the same rank in the hand).
    """
    ranks = hands >> 2
    sizes = (ranks[..., :, None] == ranks[..., None, :]).sum(axis=-1)
    order = np.argsort(sizes * 64 + hands, axis=-1)
    return np.take_along_axis(hands, order, axis=-1), np.take_along_axis(sizes, order, axis=-1)


def hand_values(hands: IntArray, sizes: IntArray) -> IntArray:
    """Return the values of hands; a better hand has a greater value.

    A value is the category, then the ranks from the largest group to the smallest, as digits in
    base 13. For a straight, only the top rank follows the category.

    Args:
        hands: hands sorted by group.
        sizes: the group sizes of their cards.
    """
    ranks, suits = hands >> 2, hands & 3
    is_flush = (suits == suits[..., :1]).all(axis=-1)
    rank_set = np.where(sizes[..., -1] == 1, (1 << ranks).sum(axis=-1), 0)
    straight_top = _STRAIGHT_TOP[rank_set]
    is_straight = straight_top >= 0
    largest, smallest = sizes[..., -1], sizes[..., 0]
    cards_in_pairs = (sizes == 2).sum(axis=-1)
    category = np.where(largest == 4, FOUR, HIGH_CARD)
    category = np.where(largest == 3, np.where(smallest == 2, FULL_HOUSE, THREE), category)
    category = np.where(largest == 2, np.where(cards_in_pairs == 4, TWO_PAIRS, PAIR), category)
    category = np.where(is_flush, FLUSH, category)
    category = np.where(is_straight, np.where(is_flush, STRAIGHT_FLUSH, STRAIGHT), category)
    rank_digits = (ranks[..., ::-1] * _RANK_UNITS).sum(axis=-1)
    digits = np.where(is_straight, straight_top * _FIRST_RANK_UNIT, rank_digits)
    return np.asarray(category * _CATEGORY_UNIT + digits)


def bonuses(values: IntArray) -> IntArray:
    """Return the points above the line for hands with these values if they are better."""
    category, digits = values // _CATEGORY_UNIT, values % _CATEGORY_UNIT
    is_royal = (category == STRAIGHT_FLUSH) & (digits == (RANKS - 1) * _FIRST_RANK_UNIT)
    return np.asarray(np.where(is_royal, ROYAL_FLUSH, CATEGORY_BONUS[category]))


def hand_kinds(values: IntArray) -> IntArray:
    """Return the category and the first deciding rank of hands as one number below HAND_KINDS."""
    return np.asarray(values // _FIRST_RANK_UNIT)


def rank_hand_numbers(hands: IntArray) -> IntArray:
    """Return the multisets of ranks of hands as numbers below RANK_HANDS."""
    ranks = np.sort(hands >> 2, axis=-1)
    return np.asarray(_MULTISET_NUMBERS[np.arange(HAND_SIZE), ranks].sum(axis=-1))


# Draws


def misfit_positions(hands: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the position of the card that does not fit a flush, and an open straight, of four.

    It is NO_POSITION for a hand without four such cards. Straights with the ace are not open.

    Args:
        hands: hands sorted by group.
        sizes: the group sizes of their cards.
    """
    ranks, suits = hands >> 2, hands & 3
    same_suit = (suits[..., :, None] == suits[..., None, :]).sum(axis=-1)
    has_four = (same_suit == 4).sum(axis=-1) == 4
    flush = np.where(has_four, (same_suit == 1).argmax(axis=-1), NO_POSITION)
    straight = np.full(flush.shape, NO_POSITION)
    for position in range(HAND_SIZE):
        rest = np.sort(np.delete(ranks, position, axis=-1), axis=-1)
        is_open = (np.diff(rest, axis=-1) == 1).all(axis=-1) & (rest[..., -1] < RANKS - 1)
        straight = np.where(is_open & (straight < 0), position, straight)
    return np.asarray(flush), np.asarray(straight)


def allowed_draws(sizes: IntArray, flush: IntArray, straight: IntArray) -> BoolArray:
    """Return which of the considered draws a hand has, in a new last axis of DRAW_CHOICES.

    Args:
        sizes: the group sizes of hands sorted by group.
        flush: positions from :func:`misfit_positions`.
        straight: positions from :func:`misfit_positions`.
    """
    allowed = np.ones((*flush.shape, DRAW_CHOICES), dtype=bool)
    allowed[..., 1:4] = sizes[..., :3] == 1
    allowed[..., FLUSH_DRAW] = flush >= 0
    allowed[..., STRAIGHT_DRAW] = straight >= 0
    return allowed


def discarded(choices: IntArray, flush: IntArray, straight: IntArray) -> BoolArray:
    """Return which cards of hands sorted by group the chosen draws discard.

    Args:
        choices: numbers of draws.
        flush: positions from :func:`misfit_positions`.
        straight: positions from :func:`misfit_positions`.
    """
    positions = np.arange(HAND_SIZE)
    is_lowest = (positions < choices[..., None]) & (choices < FLUSH_DRAW)[..., None]
    misfit = np.where(choices == STRAIGHT_DRAW, straight, NO_POSITION)
    misfit = np.where(choices == FLUSH_DRAW, flush, misfit)
    return np.asarray(is_lowest | (positions == misfit[..., None]))


# Tricks
#
# Both hands are open. After some tricks each seat holds a subset of its cards; both subsets have
# the same size. Subsets of a size are numbered in the order of `itertools.combinations`. The tricks
# of all pairs of subsets are computed by size, from the smallest to the whole hands.


@cache
def _subsets(cards: int, size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(combinations(range(cards), size))


@cache
def plays_of_subsets(cards: int, held: int, size: int) -> tuple[IntArray, IntArray]:
    """Return the possible plays of ``size`` cards from each subset of ``held`` cards.

    Args:
        cards: number of cards of the whole hand.
        held: number of cards of the subsets.
        size: number of cards of a play.

    Returns:
        The positions of the played cards, shape (subsets, plays, size), and the number of the
        remaining subset, shape (subsets, plays).
    """
    rests = {rest: number for number, rest in enumerate(_subsets(cards, held - size))}
    played, after = [], []
    for subset in _subsets(cards, held):
        plays = list(combinations(subset, size))
        played.append(plays)
        after.append([rests[tuple(c for c in subset if c not in play)] for play in plays])
    return np.array(played), np.array(after)


def solve_tricks(mine: IntArray, theirs: IntArray, must_beat: bool) -> TrickSolution:
    """Solve the tricks of open hands in many worlds.

    Args:
        mine: the ranks of the first seat's cards, shape (cards, worlds).
        theirs: the ranks of the other seat's cards, the same shape.
        must_beat: whether a seat that can beat a lead must do so.
    """
    cards, worlds = mine.shape
    no_tricks = np.zeros((1, 1, worlds), dtype=np.int8)
    solution: TrickSolution = [(no_tricks, no_tricks)]
    first, other = mine.astype(np.int8), theirs.astype(np.int8)
    for held in range(1, cards + 1):
        exchanged = [(if_other, if_first) for if_first, if_other in solution]
        if_first_leads = _leader_tricks(first, other, held, solution, must_beat)
        if_other_leads = _leader_tricks(other, first, held, exchanged, must_beat)
        solution.append((if_first_leads, if_other_leads))
    return solution


def _leader_tricks(
    mine: TrickArray, theirs: TrickArray, held: int, solution: TrickSolution, must_beat: bool
) -> TrickArray:
    """Return the tricks of the leading seat after its best lead, shape (subsets, subsets, worlds).

    Args:
        mine: the ranks of the leading seat.
        theirs: the ranks of the other seat.
        held: number of cards that each seat holds.
        solution: the solution for fewer cards, with the leading seat as the first one.
        must_beat: as in :func:`solve_tricks`.
    """
    best: TrickArray | None = None
    for size in range(1, min(MAX_PLAY_SIZE, held) + 1):
        values = lead_values(mine, theirs, held, size, solution, must_beat).max(axis=1)
        best = values if best is None else np.maximum(best, values)
    assert best is not None
    return best


def lead_values(
    mine: TrickArray,
    theirs: TrickArray,
    held: int,
    size: int,
    solution: TrickSolution,
    must_beat: bool,
) -> TrickArray:
    """Return the leading seat's tricks after each lead of ``size`` cards and the best answer.

    Arguments are as in :func:`_leader_tricks`.

    Returns:
        Shape (own subsets, leads, other's subsets, worlds). A lead of different ranks is illegal
        and has the value -ILLEGAL.
    """
    cards = mine.shape[0]
    played, after = plays_of_subsets(cards, held, size)
    # Shapes (subsets, plays, worlds); a lead needs cards of one rank, and so does a beating answer.
    lead_rank, lead_ranks = mine[played[..., 0]], mine[played]
    is_legal_lead = (lead_ranks == mine[played[..., :1]]).all(axis=2)
    answer_rank = theirs[played[..., 0]]
    is_group = (theirs[played] == theirs[played[..., :1]]).all(axis=2)
    # From here on: (own subsets, leads, other's subsets, answers, worlds).
    beats = answer_rank[None, None] > lead_rank[:, :, None, None]
    if size > 1:
        beats &= is_group[None, None]
    own_rest, other_rest = after[:, :, None, None], after[None, None]
    if_lead, if_not_lead = solution[held - size]
    tricks_if_lost = np.int8(held - size) - if_not_lead[other_rest, own_rest]
    tricks_if_won = np.int8(size) + if_lead[own_rest, other_rest]
    values = np.where(beats, tricks_if_lost, tricks_if_won)
    if must_beat:
        can_beat = beats.any(axis=3, keepdims=True)
        values[can_beat & ~beats] = ILLEGAL
    values = np.asarray(values.min(axis=3))
    if size > 1:
        values[np.broadcast_to(~is_legal_lead[:, :, None], values.shape)] = -ILLEGAL
    return values
