"""Compare poker hands by the rules that all games share (rules README)."""

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from referee.games.shared.cards import DECK, RANK, SUIT, Card

# Bit r of a mask stands for rank r. The ace is bit 14 and, for straights, also bit 1.
_ACE = 1 << 14
_LOW_ACE = 1 << 1

# A hand as one number: three bits per rank count its cards, then four bits per suit. The value of a
# hand without a flush depends on the counts of its ranks only, and that of a flush on its ranks.
_SUITS_AT = 40
_RANK_COUNTS = (1 << _SUITS_AT) - 1
_CODE: dict[Card, int] = {c: 1 << 3 * (RANK[c] - 2) | 1 << _SUITS_AT + 4 * SUIT[c] for c in DECK}
_THREE_OF_EACH_SUIT = 0x3333
_EIGHT_OF_A_SUIT = 0x8888
"""Five or more cards of a suit and three more set its highest bit."""
_CACHED_VALUES = 1 << 16
"""Entries of the cache of values: all hands of five cards and of seven."""


class Category(IntEnum):
    """Categories of poker hands, lowest first."""

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIRS = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8
    FIVE_OF_A_KIND = 9
    """Only with wild cards (:mod:`referee.games.shared.wild_cards`)."""


class HandValue(NamedTuple):
    """Value of a hand; values compare like the hands."""

    category: Category
    ranks: tuple[int, ...]
    """Ranks that decide within the category, most significant first.

    A straight has only its top rank here, and a low ace counts 1 only at the end of a straight.
    """


def straight_top(mask: int) -> int:
    """Return the top rank of the best straight in a set of ranks; 0 without a straight.

    Args:
        mask: the ranks as bits 2 to 14.
    """
    if mask & _ACE:
        mask |= _LOW_ACE
    # Bit r stays if the ranks r to r + 4 are all in the set.
    lowest = mask & mask >> 1 & mask >> 2 & mask >> 3 & mask >> 4
    return lowest.bit_length() + 3 if lowest else 0


def best_hand(cards: Iterable[Card]) -> HandValue:
    """Return the value of the best five-card hand among five to nine cards.

    Suits never break ties. The ace is low only in the straight A-2-3-4-5; straights do not wrap.
    """
    held = tuple(cards)
    code = sum(map(_CODE.__getitem__, held))
    value = _value_of_ranks(code & _RANK_COUNTS)
    suits = code >> _SUITS_AT
    if suits + _THREE_OF_EACH_SUIT & _EIGHT_OF_A_SUIT:
        return max(value, _flush(held))
    return value


def _flush(cards: tuple[Card, ...]) -> HandValue:
    """Return the value of the best flush or straight flush of cards that hold one."""
    suits = [SUIT[c] for c in cards]
    flush = next(suit for suit in (0, 1, 2, 3) if suits.count(suit) >= 5)
    suited = sorted([RANK[c] for c in cards if SUIT[c] == flush], reverse=True)
    mask = 0
    for rank in suited:
        mask |= 1 << rank
    if top := straight_top(mask):
        return HandValue(Category.STRAIGHT_FLUSH, (top,))
    return HandValue(Category.FLUSH, tuple(suited[:5]))


@lru_cache(_CACHED_VALUES)
def _value_of_ranks(counts: int) -> HandValue:
    """Return the value of the best hand without a flush.

    Args:
        counts: the number of cards of each rank, in three bits per rank from the twos up.
    """
    ranks: list[int] = []
    mask = 0
    for rank in range(14, 1, -1):
        if number := counts >> 3 * (rank - 2) & 7:
            ranks += [rank] * number
            mask |= 1 << rank
    return _best_of_ranks(ranks, mask)


def _best_of_ranks(ranks: list[int], mask: int) -> HandValue:
    """Return the best hand without a flush."""
    distinct = sorted(set(ranks), reverse=True)
    if len(distinct) == len(ranks):
        groups: list[tuple[int, int]] = []
    else:
        groups = sorted(((ranks.count(r), r) for r in distinct), reverse=True)
        most, first = groups[0]
        if most == 4:
            kicker = next(r for r in distinct if r != first)
            return HandValue(Category.FOUR_OF_A_KIND, (first, kicker))
        if most == 3 and groups[1][0] >= 2:
            return HandValue(Category.FULL_HOUSE, (first, groups[1][1]))
    if top := straight_top(mask):
        return HandValue(Category.STRAIGHT, (top,))
    if not groups:
        return HandValue(Category.HIGH_CARD, tuple(distinct[:5]))
    return _best_of_groups(groups, distinct)


def _best_of_groups(groups: list[tuple[int, int]], distinct: list[int]) -> HandValue:
    """Return the best hand of pairs or one three of a kind.

    Args:
        groups: (size, rank) pairs, largest first.
        distinct: the different ranks, highest first.
    """
    most, first = groups[0]
    if most == 3:
        kickers = [r for r in distinct if r != first][:2]
        return HandValue(Category.THREE_OF_A_KIND, (first, *kickers))
    if groups[1][0] == 2:
        second = groups[1][1]
        kicker = next(r for r in distinct if r not in (first, second))
        return HandValue(Category.TWO_PAIRS, (first, second, kicker))
    kickers = [r for r in distinct if r != first][:3]
    return HandValue(Category.PAIR, (first, *kickers))
