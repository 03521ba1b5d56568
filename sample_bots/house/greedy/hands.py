"""Poker hands as sets of bits, quick enough to try every way of playing a hand.

A set of cards is a whole number: 13 bits for each suit, the ace the highest bit of the 13.
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

_ALL = (1 << 13) - 1
_CATEGORY = 26
"""Below the category lie two sets of ranks, 13 bits each, that decide within it."""


def bits(cards: Iterable[str]) -> int:
    """The cards as a set of bits."""
    return sum(BIT[card] for card in cards)


def groups(cards: Iterable[str]) -> dict[int, list[str]]:
    """The cards by rank, the lowest rank first."""
    found: dict[int, list[str]] = {}
    for card in sorted(cards, key=RANK.__getitem__):
        found.setdefault(RANK[card], []).append(card)
    return found


def category(value: int) -> int:
    """HIGH_CARD to STRAIGHT_FLUSH, of what :func:`strength` gave."""
    return value >> _CATEGORY


def strength(hand: int) -> int:
    """What the best five of a set of cards are worth: the better hand has the larger number."""
    clubs, diamonds, hearts, spades = (
        hand & _ALL,
        hand >> 13 & _ALL,
        hand >> 26 & _ALL,
        hand >> 39,
    )
    ranks = clubs | diamonds | hearts | spades
    minor, major = clubs & diamonds, hearts & spades
    either = clubs | diamonds, hearts | spades
    pairs = minor | major | either[0] & either[1]
    for suit in (clubs, diamonds, hearts, spades):
        if suit.bit_count() >= 5:
            if straight := _straight(suit):
                return STRAIGHT_FLUSH << _CATEGORY | straight
            break
    else:
        suit = 0
    if not pairs:
        if suit:
            return FLUSH << _CATEGORY | _top(suit, 5)
        if straight := _straight(ranks):
            return STRAIGHT << _CATEGORY | straight
        return _top(ranks, 5)
    return _of_groups(ranks, pairs, minor & either[1] | major & either[0], minor & major, suit)


def _of_groups(ranks: int, pairs: int, threes: int, fours: int, suit: int) -> int:
    """The strength of a set that has two cards of a rank; ``suit``: the ranks of a flush, or 0."""
    if fours:
        four = _top(fours, 1)
        return FOUR << _CATEGORY | four << 13 | _top(ranks & ~four, 1)
    if threes:
        three = _top(threes, 1)
        if pair := _top(pairs & ~three, 1):
            return FULL_HOUSE << _CATEGORY | three << 13 | pair
    if suit:
        return FLUSH << _CATEGORY | _top(suit, 5)
    if straight := _straight(ranks):
        return STRAIGHT << _CATEGORY | straight
    if threes:
        return THREE << _CATEGORY | three << 13 | _top(ranks & ~three, 2)
    two = _top(pairs, 2)
    if two & (two - 1):
        return TWO_PAIRS << _CATEGORY | two << 13 | _top(ranks & ~two, 1)
    return PAIR << _CATEGORY | two << 13 | _top(ranks & ~two, 3)


@cache
def _top(ranks: int, count: int) -> int:
    """The highest of a set of ranks; all of them if there are fewer."""
    while ranks.bit_count() > count:
        ranks &= ranks - 1
    return ranks


@cache
def _straight(ranks: int) -> int:
    """The top rank of the best straight in a set of ranks, as a bit; 0 if there is none."""
    low = ranks << 1 | ranks >> 12  # the ace stands below the two as well
    runs = low & low >> 1 & low >> 2 & low >> 3 & low >> 4
    return 1 << (runs.bit_length() + 2) if runs else 0


def odd_suit(hand: Iterable[str]) -> str | None:
    """The one card that keeps five cards from being of one suit."""
    suits = [card[1] for card in hand]
    return next((card for card in hand if suits.count(card[1]) == 1 and len(set(suits)) == 2), None)


def odd_rank(hand: Iterable[str]) -> str | None:
    """The one card that keeps four neighbours, open at both ends, from being the whole hand."""
    for odd in hand:
        ranks = sorted(RANK[card] for card in hand if card != odd)
        if ranks[3] - ranks[0] == 3 and len(set(ranks)) == 4 and ranks[3] < RANK["AS"]:
            return odd
    return None
