"""Value of five cards with wild cards among them."""

from collections.abc import Iterable
from functools import cache

RANKS = "23456789TJQKA"
RANK = {rank + suit: number for number, rank in enumerate(RANKS, 2) for suit in "CDHS"}
"""The rank of a card, 2 to 14; jokers have none."""

Value = tuple[int, tuple[int, ...], int]
"""Category of a hand, the ranks that decide within it, and the number of natural cards."""

HIGH_CARD, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH, FIVE = range(
    10
)
CATEGORY_OF_GROUPS = {
    (5,): FIVE,
    (4, 1): FOUR,
    (3, 2): FULL_HOUSE,
    (3, 1, 1): THREE,
    (2, 2, 1): TWO_PAIRS,
    (2, 1, 1, 1): PAIR,
    (1, 1, 1, 1, 1): HIGH_CARD,
}


def is_wild(card: str, wild_rank: str) -> bool:
    """Return whether a card is a joker or of the wild rank."""
    return card[0] == "X" or card[0] == wild_rank


def value(cards: Iterable[str], wild_rank: str) -> Value:
    """Return the value of five cards; a better hand has a greater value."""
    natural = [card for card in cards if card[0] != "X" and card[0] != wild_rank]
    ranks = sorted([RANK[card] for card in natural], reverse=True)
    return _value(tuple(ranks), len({card[1] for card in natural}) < 2)


@cache
def _value(ranks: tuple[int, ...], suited: bool) -> Value:
    """Return the value of a hand with these natural ranks, the highest first."""
    wild = 5 - len(ranks)
    groups = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    sizes = [size for size, _ in groups] or [0]
    sizes[0] += wild  # the largest group takes all wild cards
    category = CATEGORY_OF_GROUPS[tuple(sizes)]
    deciding = tuple(rank for _, rank in groups) or (14,)
    straight_top = _straight_top(set(ranks)) if max(sizes) - wild < 2 else 0
    others = [(FLUSH, (14,) * wild + ranks)] if suited else []
    others += [(STRAIGHT_FLUSH if suited else STRAIGHT, (straight_top,))] if straight_top else []
    return (*max([(category, deciding), *others]), len(ranks))


def _straight_top(ranks: set[int]) -> int:
    """Return the top rank of the best straight with these ranks; otherwise 0."""
    for top in range(14, 5, -1):
        if all(top - 5 < rank <= top for rank in ranks):
            return top
    return 5 if ranks <= {14, 2, 3, 4, 5} else 0
