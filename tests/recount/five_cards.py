"""Comparison of five poker cards, implemented from the rules' README alone."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement

RANKS = "23456789TJQKA"
PACK = [rank + suit for rank in RANKS for suit in "CDHS"]
JOKERS = ["X1", "X2"]
TWO_SUITS = [rank + suit for rank in RANKS for suit in "CD"]

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
    "five of a kind",
)
SHAPES = {
    (1, 1, 1, 1, 1): "high card",
    (2, 1, 1, 1): "pair",
    (2, 2, 1): "two pairs",
    (3, 1, 1): "three of a kind",
    (3, 2): "full house",
    (4, 1): "four of a kind",
    (5,): "five of a kind",
}
STRAIGHTS = ["A2345", *(RANKS[low : low + 5] for low in range(9))]
"""From the lowest to the highest; each with its top card last."""

Worth = tuple[int, list[int]]


def name(cards: Sequence[str]) -> str:
    return NAMES[worth(cards)[0]]


def worth(cards: Sequence[str]) -> Worth:
    assert len(cards) == 5
    held = Counter(card[0] for card in cards)
    flush = len({card[1] for card in cards}) == 1
    straight = next((at for at, run in enumerate(STRAIGHTS) if set(run) == set(held)), None)
    shape = SHAPES[tuple(sorted(held.values(), reverse=True))]
    if shape == "five of a kind":
        return NAMES.index(shape), [RANKS.index(cards[0][0])]
    if straight is not None:
        return NAMES.index("straight flush" if flush else "straight"), [straight]
    if flush and NAMES.index(shape) < NAMES.index("flush"):
        return NAMES.index("flush"), sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    groups = sorted(((held[rank], RANKS.index(rank)) for rank in held), reverse=True)
    return NAMES.index(shape), [rank for _, rank in groups]


def best_worth(cards: Sequence[str], wild: Sequence[str]) -> Worth:
    """Return the best value of cards and wild cards; a wild card stands for any of the 52 cards."""
    suits = {card[1] for card in cards}
    return _best("".join(sorted(card[0] for card in cards)), len(suits) < 2, len(wild))


@cache
def _best(ranks: str, suited: bool, wild: int) -> Worth:
    """Return the best value of ranks and wild cards; suits matter only if all are equal."""
    if len(set(ranks)) <= 1:
        # Five of a kind is the best category; without natural cards, the wild cards become aces.
        return NAMES.index("five of a kind"), [RANKS.index(ranks[0] if ranks else "A")]
    cards = [rank + ("C" if suited or place else "D") for place, rank in enumerate(ranks)]
    return max(worth([*cards, *more]) for more in combinations_with_replacement(TWO_SUITS, wild))
