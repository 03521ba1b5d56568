"""Count Pouku by exhaustive search, as its rules define it: all yaku and all sets of yaku.

Nothing here uses the rules code. A card is its text; a yaku is a set of cards.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

Yaku = frozenset[str]
Points = Mapping[str, int]

RANKS = "A23456789TJQKA"
"""The ace is below the two and above the king."""
POINTS: Points = {
    "pair": 1,
    "three": 3,
    "straight": 2,
    "four": 7,
    "point": 2,
    "four_yaku": 1,
}


def name(yaku: Yaku) -> str:
    if len({card[0] for card in yaku}) > 1:
        return "straight"
    return {2: "pair", 3: "three", 4: "four"}[len(yaku)]


def worth(yaku: Yaku, points: Points) -> int:
    called = name(yaku)
    return points[called] + (len(yaku) - 4 if called == "straight" else 0)


def every_yaku(pool: Sequence[str]) -> list[Yaku]:
    sets: set[Yaku] = set()
    for rank in RANKS[1:]:
        same = [card for card in pool if card[0] == rank]
        sets |= {frozenset(few) for size in (2, 3, 4) for few in combinations(same, size)}
    for first in range(len(RANKS)):
        for last in range(first + 3, min(first + 13, len(RANKS))):
            by_rank = [[c for c in pool if c[0] == rank] for rank in RANKS[first : last + 1]]
            sets |= {frozenset(cards) for cards in product(*by_rank)}
    return sorted(sets, key=sorted)


def fits(yaku: Yaku, chosen: Sequence[Yaku], hand: Sequence[str]) -> bool:
    """Return whether a yaku may be added to a legal set. A set is legal if:"""
    held = set(hand)
    for other in chosen:
        if (yaku & other) - held:
            return False  # a field card is in at most one yaku,
        if yaku <= other or other <= yaku:
            return False  # no yaku's cards are all contained in those of another,
        if yaku <= held and other <= held:
            return False  # and at most one yaku consists of hand cards alone.
    return True


def legal_sets(
    left: Sequence[Yaku], hand: Sequence[str], chosen: tuple[Yaku, ...] = ()
) -> Iterator[tuple[Yaku, ...]]:
    yield chosen
    for at, yaku in enumerate(left):
        if fits(yaku, chosen, hand):
            yield from legal_sets(left[at + 1 :], hand, (*chosen, yaku))


def best_worth(
    hand: Sequence[str],
    fields: Sequence[str],
    kept: Sequence[str],
    point_card: str,
    points: Points = POINTS,
) -> int | None:
    """Return the points for going out, without a bonus; None if a yaku is missing."""
    pool = [*hand, *fields]
    fixed = points["point"] * sum(c[0] == point_card[0] for c in (*pool, *kept))
    best = None
    for chosen in legal_sets(every_yaku(pool), hand):
        if kept and not chosen:
            continue
        counted = [*chosen, *([frozenset(kept)] if kept else [])]
        value = fixed + sum(worth(yaku, points) for yaku in counted)
        value += points["four_yaku"] if len(counted) >= 4 else 0
        best = value if best is None else max(best, value)
    return best


def payable(left: Sequence[Yaku], chosen: tuple[Yaku, ...] = ()) -> Iterator[tuple[Yaku, ...]]:
    """Yield every set of yaku to pay for: a card may count in yaku of different names."""
    yield chosen
    for at, yaku in enumerate(left):
        for other in chosen:
            if name(yaku) == name(other) and yaku & other:
                break
            if yaku <= other or other <= yaku:
                break
        else:
            yield from payable(left[at + 1 :], (*chosen, yaku))


def dearest(fields: Sequence[str], point_card: str, points: Points = POINTS) -> int:
    """Return the payment for the fields, before doubling."""
    sets = payable(every_yaku(fields))
    cost = max(sum(worth(yaku, points) for yaku in chosen) for chosen in sets)
    return cost + points["point"] * sum(c[0] == point_card[0] for c in fields)
