"""Compare five-card hands with wild cards (docs/rules/pokex.md, *The better hand*).

The value of a hand depends only on the ranks of its natural cards and on whether these have one
suit. There are a few thousand such cases, so each is computed once and cached.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from referee.games.shared.cards import JOKERS, RANK, Card
from referee.games.shared.poker import Category

HAND = 5
_ACE = 14


class WildValue(NamedTuple):
    """Value of a hand with wild cards; values compare like the hands."""

    category: Category
    ranks: tuple[int, ...]
    """Ranks that decide within the category, most significant first, as without wild cards."""
    natural: int
    """Number of natural cards; among otherwise equal hands, more of them win."""


def is_wild(card: Card, wild_rank: str) -> bool:
    """Return whether a card is wild: a joker, or of the wild rank ("" without a wild rank)."""
    return card in JOKERS or card[0] == wild_rank


def wild_hand(cards: Iterable[Card], wild_rank: str) -> WildValue:
    """Return the value of exactly five cards.

    Each wild card stands for the one of the 52 cards that makes the hand best. It may duplicate a
    card of the hand.

    Args:
        cards: the five cards.
        wild_rank: the rank that is wild; "" if only the jokers are wild.
    """
    natural = [c for c in cards if c not in JOKERS and c[0] != wild_rank]
    ranks = sorted([RANK[c] for c in natural], reverse=True)
    return _value(tuple(ranks), len({c[1] for c in natural}) < 2)


@cache
def _value(ranks: tuple[int, ...], suited: bool) -> WildValue:
    """Return the value of natural cards filled up to five with wild cards.

    Args:
        ranks: ranks of the natural cards, highest first.
        suited: whether the natural cards have one suit.
    """
    return WildValue(*_best(ranks, suited), len(ranks))


def _best(ranks: tuple[int, ...], suited: bool) -> tuple[Category, tuple[int, ...]]:
    """Return the category and the ranks that decide within it.

    All wild cards join the largest group, except in a straight or a flush.
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
    """Return the top rank of the best straight of these ranks and wild cards; 0 if impossible."""
    if len(set(ranks)) < len(ranks):
        return 0
    for top in range(_ACE, 5, -1):
        if all(top - HAND < rank <= top for rank in ranks):
            return top
    return 5 if all(rank in (2, 3, 4, 5, _ACE) for rank in ranks) else 0
