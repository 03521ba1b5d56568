"""Comparing five cards some of which are wild (docs/rules/pokex.md, *The better hand*).

What a hand is worth follows from the ranks of the cards that are not wild and from whether they
are of one suit. There are only a few thousand such cases, so each is worked out once.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from referee.cards import JOKERS, RANK, Card
from referee.poker import Category

HAND = 5
_ACE = 14


class WildValue(NamedTuple):
    """The worth of a hand with wild cards; values compare as the hands do."""

    category: Category
    ranks: tuple[int, ...]
    """What decides within the category, first things first, as in a hand without wild cards."""
    natural: int
    """The cards that are not wild: of hands that are equal otherwise, more of them win."""


def is_wild(card: Card, wild_rank: str) -> bool:
    """Whether a card is wild: a joker, or of the wild rank ("" if there is none)."""
    return card in JOKERS or card[0] == wild_rank


def wild_hand(cards: Iterable[Card], wild_rank: str) -> WildValue:
    """The value of exactly five cards.

    Each wild card stands for whichever of the 52 makes the hand best, one that is there already
    included.

    Args:
        cards: the five.
        wild_rank: the rank that is wild, "" if only the jokers are.
    """
    natural = [c for c in cards if not is_wild(c, wild_rank)]
    ranks = sorted([RANK[c] for c in natural], reverse=True)
    return _value(tuple(ranks), len({c[1] for c in natural}) < 2)


@cache
def _value(ranks: tuple[int, ...], suited: bool) -> WildValue:
    """The value of these ranks, the highest first, filled up to five with wild cards."""
    return WildValue(*_best(ranks, suited), len(ranks))


def _best(ranks: tuple[int, ...], suited: bool) -> tuple[Category, tuple[int, ...]]:
    """The category, and the ranks that decide in it.

    The largest group takes all the wild cards, except in a straight or a flush.
    """
    wild = HAND - len(ranks)
    groups = sorted(((ranks.count(r), r) for r in set(ranks)), reverse=True)
    by_group = tuple(rank for _, rank in groups)
    top = straight_with(ranks)
    if len(groups) < 2:
        return Category.FIVE_OF_A_KIND, by_group or (_ACE,)
    if suited and top:
        return Category.STRAIGHT_FLUSH, (top,)
    if len(groups) == 2:
        second, _ = groups[1]
        return (Category.FOUR_OF_A_KIND if second == 1 else Category.FULL_HOUSE), by_group
    if suited:
        return Category.FLUSH, (_ACE,) * wild + ranks
    if top:
        return Category.STRAIGHT, (top,)
    largest, _ = groups[0]
    if len(groups) == 3:
        three = largest + wild == 3
        return (Category.THREE_OF_A_KIND if three else Category.TWO_PAIRS), by_group
    return (Category.PAIR if len(groups) == 4 else Category.HIGH_CARD), by_group


def straight_with(ranks: tuple[int, ...]) -> int:
    """The top rank of the best straight that wild cards can make of these; 0 if none."""
    if len(set(ranks)) < len(ranks):
        return 0
    for top in range(_ACE, 5, -1):
        if all(top - HAND < rank <= top for rank in ranks):
            return top
    return 5 if all(rank in (2, 3, 4, 5, _ACE) for rank in ranks) else 0
