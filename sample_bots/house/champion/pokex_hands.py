"""Pokex hands as sums of card codes, and tables of hands by these sums.

The *type* of a card is its rank, or WILD. The *code* of a card has two parts:

- The lower 20 bits are the key of its type. Different hands of three, four or five cards have
  different sums of keys.
- Above them, each suit has a counter of three bits. A wild card counts in all suits.

So the sum of the codes of a hand contains the sum of its keys, and how many of its cards are of (or
wild for) each suit. A hand is *suited* if all its natural cards have one suit. The sum of keys and
this one bit determine the value of a hand. They are its index in the tables.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS, Card
from referee.games.shared.wild_cards import straight_with, wild_hand

IntArray = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint32]
"""Codes of cards, or sums of them."""
AnyArray = npt.NDArray[Any]
"""An array of floating-point numbers, small integers or flags."""

CARDS = 54
"""Cards of the deck with two jokers."""
WILD = 13
"""The type of a wild card; the type of another card is its rank, 0 for a two."""
TYPES = 14
KEYS = (1, 5, 22, 94, 312, 992, 2422, 5624, 12522, 19998, 43258, 79415, 150313, 0)
"""Keys by type: the sums of three, four or five of them differ."""
KEY_BITS = 20
SUIT_COUNTER_BITS = 3
WILD_SUITS = 0o1111
"""One in each of the four suit counters."""
SUITED_OFFSET = 4 * KEYS[12] + KEYS[11] + 1
"""Offset of suited hands in the tables; it exceeds every sum of five keys."""
MAX_CLASSES = 224
"""At least the number of classes of hands with the same number of cards."""
RANKS_PER_CLASS = 5
"""Consecutive ranks of the largest group that fall into the same class."""
JOKER_CLASS = 2
"""Class of the largest group in a hand of wild cards only."""
_KEY_MASK = np.uint32((1 << KEY_BITS) - 1)
_SUIT_SHIFT = np.uint32(KEY_BITS)
_NUMBER = {card: number for number, card in enumerate(DECK_WITH_JOKERS)}


def card_numbers(cards: tuple[Card, ...]) -> IntArray:
    """Return the numbers of cards, from 0 for the two of clubs to 53 for the second joker."""
    return np.array([_NUMBER[card] for card in cards], dtype=np.int64)


def rank_number(rank: str) -> int:
    """Return the number of a wild rank; 13 for none."""
    return RANKS.index(rank) if rank else WILD


@cache
def card_types() -> IntArray:
    """Return the type by wild rank and card, shape (14, 54); wild rank 13 means none."""
    types = np.tile(np.minimum(np.arange(CARDS) // 4, WILD), (TYPES, 1))
    types[types == np.arange(TYPES)[:, None]] = WILD
    return types


@cache
def card_codes() -> Codes:
    """Return the code by wild rank and card, shape (14, 54)."""
    types = card_types()
    own_suit = (1 << SUIT_COUNTER_BITS) ** (np.arange(CARDS) % 4)
    suits = np.where(types == WILD, WILD_SUITS, own_suit)
    return np.asarray(np.array(KEYS)[types] + (suits << KEY_BITS), dtype=np.uint32)


@cache
def _suited_offsets() -> AnyArray:
    """Return the offset by number of cards and by the four suit counters, shape (6, 4096)."""
    counters = np.arange(1 << 4 * SUIT_COUNTER_BITS)[:, None] >> (3 * np.arange(4)) & 7
    return np.array(
        [(counters == size).any(axis=1) * SUITED_OFFSET for size in range(6)], dtype=np.uint32
    )


def table_index(codes: Codes, size: int) -> AnyArray:
    """Return the indices in the tables of hands, given their summed codes and number of cards."""
    return np.asarray((codes & _KEY_MASK) + _suited_offsets()[size][codes >> _SUIT_SHIFT])


def every_hand(size: int) -> Iterator[tuple[int, tuple[int, ...], bool]]:
    """Yield the table index, the types and whether it is suited of every hand.

    The types of a hand are in ascending order, so natural cards come first.
    """
    for hand in combinations_with_replacement(range(TYPES), size):
        natural = [rank for rank in hand if rank != WILD]
        distinct = len({*natural}) == len(natural)
        if all(natural.count(rank) < 5 for rank in natural):
            index = sum(KEYS[rank] for rank in hand)
            yield index, hand, False
            if distinct:
                yield index + SUITED_OFFSET, hand, True


def _example(hand: tuple[int, ...], suited: bool) -> list[Card]:
    """Return cards with these types; the wild cards are jokers."""
    suits = "CCCCC" if suited else "CDHSC"
    return [
        DECK_WITH_JOKERS[52 if rank == WILD else 4 * rank + "CDHS".index(suit)]
        for rank, suit in zip(hand, suits, strict=False)
    ]


@cache
def value_table() -> AnyArray:
    """Return the values of hands of five cards by table index; they compare like the hands."""
    hands = {}
    for index, hand, suited in every_hand(5):
        hands[index] = wild_hand(_example(hand, suited), "")
    order = {value: number for number, value in enumerate(sorted({*hands.values()}))}
    table = np.zeros(2 * SUITED_OFFSET, dtype=np.int16)
    table[list(hands)] = [order[value] for value in hands.values()]
    return table


@cache
def class_table(size: int) -> AnyArray:
    """Return the classes of hands of three to five cards by table index.

    Hands of a class are about equally strong. Hands of fewer cards are all in class 0.
    """
    table = np.zeros(2 * SUITED_OFFSET, dtype=np.int16)
    if size < 3:
        return table
    numbers: dict[object, int] = {}
    for index, hand, suited in every_hand(size):
        table[index] = numbers.setdefault(_class_key(hand, suited), len(numbers))
    assert len(numbers) <= MAX_CLASSES
    return table


def _class_key(hand: tuple[int, ...], suited: bool) -> object:
    """Return what hands of a class have in common.

    For five cards: the category and its first rank. For fewer: the wild cards, the sizes of the
    groups, the range of the largest group's rank, and the possible flush and straight.
    """
    if len(hand) == 5:
        value = wild_hand(_example(hand, suited), "")
        return value.category, value.ranks[0]
    natural = [rank for rank in hand if rank != WILD]
    groups = sorted(((natural.count(rank), rank) for rank in {*natural}), reverse=True)
    sizes = tuple(size for size, _ in groups)
    top = groups[0][1] // RANKS_PER_CLASS if groups else JOKER_CLASS
    straight = straight_with(tuple(rank + 2 for rank in natural)) > 0
    return len(hand) - len(natural), sizes, top, suited, straight
