"""Poker hands as counts of their ranks and suits, packed in one integer.

Results are cached by ranks, so that hundreds of hands are compared in a millisecond.
"""

from collections.abc import Iterable
from functools import cache

RANKS = "23456789TJQKA"
SUITS = "CDHS"
CARDS = tuple(rank + suit for rank in RANKS for suit in SUITS)
RANK = {card: number // len(SUITS) for number, card in enumerate(CARDS)}
"""Rank of a card, 0 to 12."""

_SUITS_AT = 3 * len(RANKS)
COUNT = {
    card: 1 << 3 * rank | 1 << _SUITS_AT + 4 * SUITS.index(card[1]) for card, rank in RANK.items()
}
"""A card as a number; the sum over cards counts ranks (three bits each) and suits (four)."""

_OF_RANKS = (1 << _SUITS_AT) - 1
_FIVE = 0x3333
_FLUSH = 0x8888
CATEGORY = 13**5
"""The value of a hand is its category times this, plus its value within the category."""
FLUSH, STRAIGHT_FLUSH = 5, 8
_BY_GROUPS = {(4, 1): 7, (3, 2): 6, (3, 1): 3, (3, 0): 3, (2, 2): 2, (2, 1): 1, (1, 1): 0}


def counted(cards: Iterable[str]) -> int:
    """Return the cards as one integer."""
    return sum(COUNT[card] for card in cards)


def worth(hand: int, cards: Iterable[str]) -> int:
    """Return the value of the best five of three to seven cards; larger is better.

    Args:
        hand: the cards, as returned by :func:`counted`.
        cards: the same cards, used only for a flush.
    """
    flush = (hand >> _SUITS_AT) + _FIVE & _FLUSH
    if not flush:
        return _without_flush(hand & _OF_RANKS)
    suit = SUITS[flush.bit_length() // 4 - 1]
    ranks = sorted({RANK[card] for card in cards if card[1] == suit}, reverse=True)
    top = _straight(ranks)
    if top:
        return STRAIGHT_FLUSH * CATEGORY + top
    return max(FLUSH * CATEGORY + _number(ranks[:5]), _without_flush(hand & _OF_RANKS))


@cache
def _without_flush(counts: int) -> int:
    """Return the value of a hand without a flush, from the counts of its ranks."""
    groups = sorted(
        ((counts >> 3 * rank & 7, rank) for rank in range(len(RANKS)) if counts >> 3 * rank & 7),
        reverse=True,
    )
    sizes = [min(size, 4) for size, _ in groups]
    first, second = sizes[0], sizes[1] if len(sizes) > 1 else 0
    if first == 4:
        second = 1
    category = _BY_GROUPS[first, min(second, 5 - first)]
    top = _straight([rank for _, rank in sorted(groups, key=lambda group: -group[1])])
    if top and category < 4:
        return 4 * CATEGORY + top
    kept = [rank for size, rank in groups if size == first][: 2 if first == 2 else 1]
    if category == 6:
        kept += [max(rank for size, rank in groups if size >= 2 and rank != kept[0])]
    kept = kept if first > 1 else []
    room = {7: 1, 6: 0, 3: 2, 2: 1, 1: 3, 0: 5}[category]
    others = sorted((rank for _, rank in groups if rank not in kept), reverse=True)[:room]
    return category * CATEGORY + _number([*kept, *others])


def _number(ranks: list[int]) -> int:
    """Return ranks as one number, the first the most significant."""
    number = 0
    for rank in (ranks + [0] * 5)[:5]:
        number = 13 * number + rank
    return number


def _straight(ranks: list[int]) -> int:
    """Return the top rank of the best straight of descending ranks; otherwise 0."""
    held = {*ranks, *([-1] if RANKS.index("A") in ranks else [])}
    return next((top for top in range(12, 2, -1) if all(top - n in held for n in range(5))), 0)
