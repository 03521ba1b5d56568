"""Hands of Pokex as numbers: codes of cards that add up, and tables by the sum of the codes.

The code of a card has the key of its rank in the lower bits, and above them a counter of three bits
for each suit. A wild card counts in all suits. Different hands of up to five cards with the same
number of cards have different sums of keys, so a sum and one bit (all natural cards of one suit)
give the value of a hand.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS, Card
from referee.games.shared.wild_cards import straight_with, wild_hand

Cards = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint32]
Numbers = npt.NDArray[Any]

WILD = 13
"""The type of a wild card; the type of another card is its rank, 0 for a two."""
TYPES = 14
KEYS = (1, 5, 22, 94, 312, 992, 2422, 5624, 12522, 19998, 43258, 79415, 150313, 0)
"""Keys by type: the sums of three, four or five of them differ."""
KEY_BITS = 20
SUITED = 4 * KEYS[12] + KEYS[11] + 1
"""Offset of suited hands in the tables."""
CLASSES = 224
"""At least the number of classes of hands with the same number of cards."""
_KEY_MASK = np.uint32((1 << KEY_BITS) - 1)
_SUIT_SHIFT = np.uint32(KEY_BITS)
_NUMBER = {card: number for number, card in enumerate(DECK_WITH_JOKERS)}


def numbers_of(cards: tuple[Card, ...]) -> Cards:
    """Return the numbers of cards, from 0 for the two of clubs to 53 for the second joker."""
    return np.array([_NUMBER[card] for card in cards], dtype=np.int64)


@cache
def types_of_cards() -> Cards:
    """Return the type of each card for each wild rank; 13 means no wild rank."""
    types = np.tile(np.minimum(np.arange(54) // 4, WILD), (TYPES, 1))
    types[types == np.arange(TYPES)[:, None]] = WILD
    return types


@cache
def codes_of_cards() -> Codes:
    """Return the code of each card for each wild rank."""
    types = types_of_cards()
    suits = np.where(types == WILD, 0o1111, 8 ** (np.arange(54) % 4))
    return np.asarray(np.array(KEYS)[types] + (suits << KEY_BITS), dtype=np.uint32)


@cache
def _offsets() -> Numbers:
    """Return the offset in the tables by the counters of the suits, for each number of cards."""
    counts = np.arange(1 << 12)[:, None] >> (3 * np.arange(4)) & 7
    return np.array([(counts == size).any(axis=1) * SUITED for size in range(6)], dtype=np.uint32)


def places(codes: Codes, size: int) -> Numbers:
    """Return the places in the tables of hands with this number of cards."""
    return np.asarray((codes & _KEY_MASK) + _offsets()[size][codes >> _SUIT_SHIFT])


def every_hand(size: int) -> Iterator[tuple[int, tuple[int, ...], bool]]:
    """Yield the place, the types and whether it is suited of every hand, natural cards first."""
    for hand in combinations_with_replacement(range(TYPES), size):
        natural = [rank for rank in hand if rank != WILD]
        distinct = len({*natural}) == len(natural)
        if all(natural.count(rank) < 5 for rank in natural):
            place = sum(KEYS[rank] for rank in hand)
            yield place, hand, False
            if distinct:
                yield place + SUITED, hand, True


def _example(hand: tuple[int, ...], suited: bool) -> list[Card]:
    """Return cards with these types; the wild cards are jokers."""
    suits = "CCCCC" if suited else "CDHSC"
    return [
        DECK_WITH_JOKERS[52 if rank == WILD else 4 * rank + "CDHS".index(suit)]
        for rank, suit in zip(hand, suits, strict=False)
    ]


@cache
def values() -> Numbers:
    """Return the values of hands of five cards, by place; they compare like the hands."""
    found = {}
    for place, hand, suited in every_hand(5):
        found[place] = wild_hand(_example(hand, suited), "")
    order = {value: number for number, value in enumerate(sorted({*found.values()}))}
    table = np.zeros(2 * SUITED, dtype=np.int16)
    table[list(found)] = [order[value] for value in found.values()]
    return table


@cache
def classes(size: int) -> Numbers:
    """Return the classes of hands, by place: hands of a class are about equally strong."""
    table = np.zeros(2 * SUITED, dtype=np.int16)
    if size < 3:
        return table
    found: dict[object, int] = {}
    for place, hand, suited in every_hand(size):
        table[place] = found.setdefault(_class(hand, suited), len(found))
    assert len(found) <= CLASSES
    return table


def _class(hand: tuple[int, ...], suited: bool) -> object:
    if len(hand) == 5:
        value = wild_hand(_example(hand, suited), "")
        return value.category, value.ranks[0]
    natural = [rank for rank in hand if rank != WILD]
    groups = sorted(((natural.count(rank), rank) for rank in {*natural}), reverse=True)
    sizes = tuple(size for size, _ in groups)
    top = groups[0][1] // 5 if groups else 2
    straight = straight_with(tuple(rank + 2 for rank in natural)) > 0
    return len(hand) - len(natural), sizes, top, suited, straight


def rank_number(rank: str) -> int:
    """Return the number of a wild rank; 13 for none."""
    return RANKS.index(rank) if rank else WILD
