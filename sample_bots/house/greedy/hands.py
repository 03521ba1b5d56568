"""Poker hands as bit sets, fast enough to try every way of playing a hand.

A set of cards is an integer: 13 bits for each suit, with the ace as the highest bit.
"""

from collections.abc import Iterable
from functools import cache

RANKS = "23456789TJQKA"
SUITS = "CDHS"

RANK = {rank + suit: RANKS.index(rank) for rank in RANKS for suit in SUITS}
"""The rank of a card, 0 for a two to 12 for an ace."""

BIT = {card: 1 << (13 * SUITS.index(card[1]) + rank) for card, rank in RANK.items()}
"""The bit of a card in a set."""

HIGH_CARD, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(9)
NAMES = (
    "high card",
    "pair",
    "two pairs",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)

_ALL_RANKS = (1 << 13) - 1
_CATEGORY_SHIFT = 26
"""Bits below the category: two sets of ranks, 13 bits each, that decide within a category."""


def bits(cards: Iterable[str]) -> int:
    """Return the cards as a bit set."""
    return sum(BIT[card] for card in cards)


def groups(cards: Iterable[str]) -> dict[int, list[str]]:
    """Return the cards by rank, the lowest rank first."""
    groups: dict[int, list[str]] = {}
    for card in sorted(cards, key=RANK.__getitem__):
        groups.setdefault(RANK[card], []).append(card)
    return groups


def category(value: int) -> int:
    """Return the category, HIGH_CARD to STRAIGHT_FLUSH, of a value of :func:`strength`."""
    return value >> _CATEGORY_SHIFT


def strength(hand: int) -> int:
    """Return the strength of the best five of a set of cards; larger is better.

    A strength is the category, then the ranks of its groups as a set, then the other deciding ranks
    as a set. Sets of equal size compare like their ranks from the highest one.
    """
    clubs, diamonds, hearts, spades = (
        hand & _ALL_RANKS,
        hand >> 13 & _ALL_RANKS,
        hand >> 26 & _ALL_RANKS,
        hand >> 39,
    )
    ranks = clubs | diamonds | hearts | spades
    # Ranks that occur at least twice, from two pairs of suits.
    minor, major = clubs & diamonds, hearts & spades
    either = clubs | diamonds, hearts | spades
    pairs = minor | major | either[0] & either[1]
    for suit in (clubs, diamonds, hearts, spades):
        if suit.bit_count() >= 5:
            if straight := _straight_top(suit):
                return STRAIGHT_FLUSH << _CATEGORY_SHIFT | straight
            flush = suit
            break
    else:
        flush = 0
    if not pairs:
        if flush:
            return FLUSH << _CATEGORY_SHIFT | _highest(flush, 5)
        if straight := _straight_top(ranks):
            return STRAIGHT << _CATEGORY_SHIFT | straight
        return _highest(ranks, 5)
    threes, fours = minor & either[1] | major & either[0], minor & major
    return _strength_with_groups(ranks, pairs, threes, fours, flush)


def _strength_with_groups(ranks: int, pairs: int, threes: int, fours: int, flush: int) -> int:
    """Return the strength of a set of cards with at least one pair.

    Args:
        ranks: all ranks.
        pairs: ranks of at least two cards.
        threes: ranks of at least three cards.
        fours: ranks of four cards.
        flush: the ranks of a suit with at least five cards; 0 without a flush.
    """
    if fours:
        four = _highest(fours, 1)
        return FOUR << _CATEGORY_SHIFT | four << 13 | _highest(ranks & ~four, 1)
    if threes:
        three = _highest(threes, 1)
        if pair := _highest(pairs & ~three, 1):
            return FULL_HOUSE << _CATEGORY_SHIFT | three << 13 | pair
    if flush:
        return FLUSH << _CATEGORY_SHIFT | _highest(flush, 5)
    if straight := _straight_top(ranks):
        return STRAIGHT << _CATEGORY_SHIFT | straight
    if threes:
        return THREE << _CATEGORY_SHIFT | three << 13 | _highest(ranks & ~three, 2)
    two = _highest(pairs, 2)
    if two & (two - 1):
        return TWO_PAIRS << _CATEGORY_SHIFT | two << 13 | _highest(ranks & ~two, 1)
    return PAIR << _CATEGORY_SHIFT | two << 13 | _highest(ranks & ~two, 3)


@cache
def _highest(ranks: int, count: int) -> int:
    """Return the highest ranks of a set; all of them if there are fewer."""
    while ranks.bit_count() > count:
        ranks &= ranks - 1
    return ranks


@cache
def _straight_top(ranks: int) -> int:
    """Return the top rank of the best straight in a set of ranks, as a bit; otherwise 0."""
    low = ranks << 1 | ranks >> 12  # an ace is also below the two
    runs = low & low >> 1 & low >> 2 & low >> 3 & low >> 4
    return 1 << (runs.bit_length() + 2) if runs else 0


def flush_misfit(hand: Iterable[str]) -> str | None:
    """Return the only card of another suit, if the other four have one suit."""
    suits = [card[1] for card in hand]
    return next((card for card in hand if suits.count(card[1]) == 1 and len(set(suits)) == 2), None)


def straight_misfit(hand: Iterable[str]) -> str | None:
    """Return the fifth card beside four consecutive ranks that are open at both ends."""
    for misfit in hand:
        ranks = sorted(RANK[card] for card in hand if card != misfit)
        if ranks[3] - ranks[0] == 3 and len(set(ranks)) == 4 and ranks[3] < RANK["AS"]:
            return misfit
    return None
