"""Compare the values of random Pouku positions with the recount, for any table of points."""

import random

import pytest

from referee.games.pouku.scores import GoingOut, owed
from referee.games.pouku.yaku import Values
from referee.games.shared.cards import DECK, Card
from tests.examples import examples
from tests.recount.pouku_sets import price, rank, tops, value, values_of

Cards = tuple[Card, ...]

PUBLISHED = {
    "pair": 1,
    "three": 3,
    "straight": 2,
    "four": 7,
    "point": 2,
    "four_yaku": 1,
    "first_turn": 1,
}
STEP = examples(1, 100)
"""CI tries every 100th position, and scripts/release-check all of them."""


def position(rng: random.Random) -> tuple[Cards, Cards, Cards, Card]:
    """Return a hand, reference fields, a kept group (or nothing) and a point card.

    Positions often have few ranks, so that they contain many yaku.
    """
    ranks = rng.choice(["23456789TJQKA", "A2345678", "789TJQKA", "A2345TJQK", "3456789"])
    pack = [card for card in DECK if card[0] in ranks]
    size = rng.choice([2, 3, 4])
    hand = rng.sample(pack, size)
    if size == 4 and rng.random() < 0.5:
        low = rng.randint(0, 9)
        hand = [Card(r + rng.choice("CDHS")) for r in ("A" + "23456789TJQKA")[low : low + 4]]
    left = [card for card in rng.sample(pack, len(pack)) if card not in hand]
    kept = [card for card in left if card[0] == left[0][0]] if rng.random() < 0.3 else []
    kept = kept[: rng.choice([2, 3, 4])] if len(kept) > 1 else []
    left = [card for card in left if card not in kept]
    point = left.pop()
    return tuple(hand), tuple(left[: rng.randint(0, min(12, len(left)))]), tuple(kept), point


def worth(place: tuple[Cards, Cards, Cards, Card], table: dict[str, int]) -> int | None:
    """Return the value of going out by the recount; None without a yaku besides the kept one."""
    hand, field, kept, point = place
    points = table["point"] * sum(card[0] == point[0] for card in hand + field + kept)
    whole = points + (value(map(rank, kept), values_of(table)) if kept else 0)
    laid = int(bool(kept))
    worths = [
        top + (table["four_yaku"] if number + laid >= 4 else 0)
        for number, top in enumerate(tops(map(rank, hand), map(rank, field), values_of(table)))
        if top is not None and number >= laid
    ]
    return max(worths) + whole if worths else None


def compare(number: int) -> None:
    rng = random.Random(f"worth/{number}")
    odd = {name: rng.choice([0, 0, 1, 2, 3, 5, 9]) for name in PUBLISHED}
    table = odd if number % 2 else PUBLISHED
    hand, field, kept, point = place = position(rng)
    offer = GoingOut(Values(**table), hand, field, kept, point)
    mine = worth(place, table)
    for needed in (5, 8):
        assert offer.reaches(needed) == (mine is not None and mine >= needed), place
    if mine is not None:
        assert offer.worth() == mine, place
    points = table["point"] * sum(card[0] == point[0] for card in field)
    paid = price(map(rank, field), values_of(table)) + points
    assert owed(Values(**table), field, point) == paid, place


def test_positions_match_the_recount() -> None:
    for number in range(20):
        compare(number)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_many_positions_match_the_recount() -> None:
    for number in range(0, 10_000, STEP):
        compare(number)
