"""Value of a hand with wild cards, found by trying every card that they may represent.

Written from the rules page alone; it shares no code with `referee.games.shared.wild_cards`.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import combinations_with_replacement

Worth = tuple[int, tuple[int, ...]]

LADDER = (
    "high card",
    "one pair",
    "two pairs",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
    "five of a kind",
)
RANKS = "23456789TJQKA"
ALL_52 = tuple(rank + suit for rank in RANKS for suit in "CDHS")
TWO_SUITS = tuple(rank + suit for rank in RANKS for suit in "CD")

GROUPS = {
    (5,): "five of a kind",
    (4, 1): "four of a kind",
    (3, 2): "full house",
    (3, 1, 1): "three of a kind",
    (2, 2, 1): "two pairs",
    (2, 1, 1, 1): "one pair",
    (1, 1, 1, 1, 1): "high card",
}


def plain(hand: tuple[str, ...]) -> Worth:
    """Return the category and the deciding ranks of five cards, which may contain duplicates."""
    counts = Counter(RANKS.index(card[0]) + 2 for card in hand)
    by_size = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    names = [GROUPS[tuple(counts[rank] for rank in by_size)]]
    categories = {names[0]: tuple(by_size)}
    flush = all(card[1] == hand[0][1] for card in hand)
    low_ace = {14: 1}
    tops = [
        max(ranks)
        for ranks in (set(counts), {low_ace.get(rank, rank) for rank in counts})
        if len(ranks) == 5 and max(ranks) - min(ranks) == 4
    ]
    if flush:
        categories["flush"] = tuple(sorted(counts.elements(), reverse=True))
    if tops:
        categories["straight"] = (max(tops),)
    if flush and tops:
        categories["straight flush"] = (max(tops),)
    best = max(categories, key=LADDER.index)
    return LADDER.index(best), categories[best]


def parts(hand: Iterable[str], wild_rank: str) -> tuple[list[str], int]:
    """Return the natural cards and the number of wild cards."""
    cards = list(hand)
    natural = [card for card in cards if card[0] not in ("X", wild_rank)]
    return natural, len(cards) - len(natural)


def by_substitution(hand: Iterable[str], wild_rank: str) -> tuple[Worth, int]:
    """Return the best of all substitutions, and the number of natural cards."""
    natural, wild = parts(hand, wild_rank)
    best = max(plain((*natural, *stand)) for stand in combinations_with_replacement(ALL_52, wild))
    return best, len(natural)


def quickly(hand: Iterable[str], wild_rank: str) -> tuple[Worth, int]:
    """Return the same from a cache: suits matter only if all are equal."""
    natural, wild = parts(hand, wild_rank)
    ranks = "".join(sorted(card[0] for card in natural))
    return _quickly(ranks, len({card[1] for card in natural}) < 2, wild), len(natural)


@cache
def _quickly(ranks: str, suited: bool, wild: int) -> Worth:
    natural = [rank + ("C" if suited or place else "H") for place, rank in enumerate(ranks)]
    stands = combinations_with_replacement(TWO_SUITS, wild)
    return max(plain((*natural, *stand)) for stand in stands)
