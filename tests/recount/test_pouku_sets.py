"""Compare the recount's search for the best yaku with an exhaustive search.

The exhaustive search tries all families of yaku, so it is limited to few cards.
"""

import random
from collections.abc import Iterator
from itertools import combinations

import pytest

from tests.recount.pouku_sets import NOTHING, Tops, price, rank, tops, value, values_of, yaku

PUBLISHED = {"pair": 1, "three": 3, "straight": 2, "four": 7}
ODD = {"pair": 5, "three": 2, "straight": 1, "four": 0}

Yaku = frozenset[int]
"""Cards by their index in the pool."""


def ranks(text: str) -> list[int]:
    """Return the ranks of cards without suits."""
    return [rank(card) for card in text.split()]


def families(every: list[Yaku], rules: "Rules", chosen: list[Yaku]) -> Iterator[list[Yaku]]:
    """Yield every family of yaku that may all count together."""
    yield chosen
    for at, yaku_set in enumerate(every):
        if all(rules.together(yaku_set, other) for other in chosen):
            yield from families(every[at + 1 :], rules, [*chosen, yaku_set])


class Rules:
    """The rules page's rules for sets; cards are indexes, those of the hand first."""

    def __init__(self, hand: list[int], field: list[int]) -> None:
        self.pool = [*hand, *field]
        self.mine = set(range(len(hand)))
        places = range(len(self.pool))
        subsets = (c for size in range(2, len(self.pool) + 1) for c in combinations(places, size))
        self.every = [frozenset(c) for c in subsets if yaku(self.pool[at] for at in c)]

    def name(self, cards: Yaku) -> str | None:
        """Return the name of a yaku."""
        return yaku(self.pool[at] for at in cards)

    def together(self, first: Yaku, second: Yaku) -> bool:
        """Return whether two yaku may both count."""
        raise NotImplementedError


class Winner(Rules):
    """The rules for the set of a seat that goes out."""

    def together(self, first: Yaku, second: Yaku) -> bool:
        both_mine = first <= self.mine and second <= self.mine
        return not (both_mine or (first & second) - self.mine or first <= second or second <= first)


class Loser(Rules):
    """The rules for the set of a seat that pays."""

    def together(self, first: Yaku, second: Yaku) -> bool:
        twice = self.name(first) == self.name(second) and first & second
        return not (twice or first <= second or second <= first)


def tried(hand: list[int], field: list[int], values: dict[str, int]) -> Tops:
    """Return the maximum points of legal sets, by the number of their yaku."""
    rules = Winner(hand, field)
    best = list(NOTHING)
    for family in families(rules.every, rules, []):
        worth = sum(value([rules.pool[at] for at in y], values_of(values)) for y in family)
        number = min(4, len(family))
        best[number] = max(worth, best[number] or 0)
    return tuple(best)


def price_tried(field: list[int], values: dict[str, int]) -> int:
    """Return the maximum points of a loser's set."""
    rules = Loser([], field)
    return max(
        sum(value([rules.pool[at] for at in y], values_of(values)) for y in family)
        for family in families(rules.every, rules, [])
    )


@pytest.mark.parametrize("values", [PUBLISHED, ODD], ids=["published", "odd"])
@pytest.mark.parametrize("number", range(15))
def test_the_search_agrees_with_exhaustive_search(number: int, values: dict[str, int]) -> None:
    rng = random.Random(f"{number}")
    pack = list(range(1, 14)) * 4 if number % 3 == 0 else [1, 2, 3, 4, 5, 6, 12, 13] * 4
    low = rng.sample(pack if number % 3 else [3, 4, 5, 6, 7] * 4, 9)
    mine = 4 if number % 2 else 3
    hand, field = low[:mine], low[mine:]
    assert tops(hand, field, values_of(values)) == tried(hand, field, values)
    assert price(low[:8], values_of(values)) == price_tried(low[:8], values)


@pytest.mark.parametrize(
    ("field", "paid"),
    [
        ("2 2 3 4 5", 6),
        ("3 3 4 5 6", 6),
        ("3 3 3", 6),
        ("2 2 5 5", 4),
        ("3 3 4 4 5 5 6 6", 16),
        ("5 6 7 8", 4),
        ("T J Q K A", 6),
        ("J Q K A 2", 4),
        ("3 3 3 3", 14),
    ],
)
def test_a_loser_pays_as_in_the_examples(field: str, paid: int) -> None:
    """The examples of the rules page, and an ace in the middle of a straight."""
    assert 2 * price(ranks(field), values_of(PUBLISHED)) == paid


@pytest.mark.parametrize(
    ("hand", "field", "most"),
    [
        ("4 5 6 7", "8 9", (0, 4, 5, None, None)),
        ("2", "2 2 3 4 5", (0, 3, 5, 4, None)),
        ("3 3 9", "3", (0, 3, 2, None, None)),
        ("4 4 4", "", (0, 3, None, None, None)),
        ("5 6 7", "4 8 4 8", (0, 3, 6, 7, 8)),
    ],
)
def test_a_winner_scores_as_in_the_examples(hand: str, field: str, most: Tops) -> None:
    """The examples of the rules page."""
    assert tops(ranks(hand), ranks(field), values_of(PUBLISHED)) == most
