"""Compare the recount's search for the best yaku with an exhaustive search.

The exhaustive search tries all families of yaku, so it is limited to few cards.
"""

import random

import pytest

from tests.recount.five_cards import PACK
from tests.recount.pouku_sets import NOTHING, Tops, price, rank, tops, values_of
from tests.referee.pouku_by_hand import every_yaku, legal_sets, payable, worth

PUBLISHED = {"pair": 1, "three": 3, "straight": 2, "four": 7}
ODD = {"pair": 5, "three": 2, "straight": 1, "four": 0}


def ranks(text: str) -> list[int]:
    return [rank(card) for card in text.split()]


def tried(hand: list[str], field: list[str], values: dict[str, int]) -> Tops:
    """Return the maximum points of legal sets, by the number of their yaku."""
    best = list(NOTHING)
    for chosen in legal_sets(every_yaku([*hand, *field]), hand):
        number = min(4, len(chosen))
        best[number] = max(sum(worth(yaku, values) for yaku in chosen), best[number] or 0)
    return tuple(best)


def price_tried(field: list[str], values: dict[str, int]) -> int:
    """Return the maximum points of a loser's set."""
    return max(sum(worth(yaku, values) for yaku in chosen) for chosen in payable(every_yaku(field)))


@pytest.mark.parametrize("values", [PUBLISHED, ODD], ids=["published", "odd"])
@pytest.mark.parametrize("number", range(15))
def test_the_search_agrees_with_exhaustive_search(number: int, values: dict[str, int]) -> None:
    rng = random.Random(f"{number}")
    of_ranks = "A23456QK" if number % 3 else "34567"
    low = rng.sample([card for card in PACK if card[0] in of_ranks], 9)
    mine = 4 if number % 2 else 3
    hand, field = low[:mine], low[mine:]
    best = tops(map(rank, hand), map(rank, field), values_of(values))
    assert best == tried(hand, field, values)
    assert price(map(rank, low[:8]), values_of(values)) == price_tried(low[:8], values)


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
