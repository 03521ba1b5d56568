"""Pouku: every hand with an ace from small decks, compared with a search through all legal sets."""

from collections.abc import Iterator
from itertools import combinations, product

import pytest

from referee.games.pouku.scores import GoingOut
from referee.games.pouku.yaku import Values
from referee.games.shared.cards import Card
from tests.examples import examples, quick_cases
from tests.referee.pouku_by_hand import POINTS, best_worth, fits, worth

Cards = tuple[Card, ...]

USUAL = Values()
MANY_YAKU = Values(straight=0, four_yaku=5)
"""Values with which more yaku can be better than more points (U-2.4)."""
POINT_CARD = "2S"
ONE_SUIT = tuple(Card(rank + "C") for rank in "A23456789TJQK")
BOTH_ENDS = tuple(Card(rank + suit) for rank, suit in product("A2345JQK", "CD"))
LOW_END = tuple(Card(rank + suit) for rank, suit in product("A23456", "CDH"))
HIGH_END = tuple(Card(rank + suit) for rank, suit in product("9TJQKA", "CDH"))


def hands_with_ace(deck: Cards, sizes: tuple[int, ...] = (2, 3, 4)) -> Iterator[Cards]:
    seen = set()
    for size in sizes:
        for hand in combinations(deck, size):
            ranks = "".join(card[0] for card in hand)
            if "A" in ranks and ranks not in seen:
                seen.add(ranks)
                yield hand


def fields_beside(deck: Cards, hand: Cards, size: int) -> Iterator[Cards]:
    """Yield fields of this many cards, one of every set of ranks."""
    seen = set()
    for field in combinations([card for card in deck if card not in hand], size):
        ranks = "".join(card[0] for card in field)
        if ranks not in seen:
            seen.add(ranks)
            yield field


def compare(hand: Cards, field: Cards, values: Values) -> None:
    """Compare the worth, and check that the set shown is legal and has this worth."""
    points = {name: getattr(values, name) for name in POINTS}
    offer = GoingOut(values, hand, field, (), POINT_CARD)
    most = best_worth(hand, field, (), POINT_CARD, points)
    assert offer.worth() == most, (hand, field)
    chosen: list[frozenset[str]] = []
    for yaku in offer.yaku():
        cards = frozenset(yaku.cards)
        assert cards <= {*hand, *field}
        assert fits(cards, chosen, hand), (hand, field, offer.yaku())
        assert yaku.worth == worth(cards, points)
        chosen.append(cards)
    shown = sum(worth(cards, points) for cards in chosen)
    shown += values.point * sum(card[0] == POINT_CARD[0] for card in (*hand, *field))
    assert shown + (values.four_yaku if len(chosen) > 3 else 0) == most, (hand, field)


@pytest.mark.parametrize(
    ("hand", "field"),
    [
        ("JH QH KD AS", "2C 3C 4C 5C 6D 7D 8D 9D TD"),
        ("AS 2H 3D 4C", "5C 6C 7C 8C 9D TD JD QD KD"),
    ],
)
def test_a_straight_of_13_ranks_does_not_count_beside_the_hands_own(hand: str, field: str) -> None:
    """U-2.2, U-4.4: the longer straight has 12 cards: 2 + 10, and 2 for the point card."""
    held, lying = tuple(map(Card, hand.split())), tuple(map(Card, field.split()))
    offer = GoingOut(USUAL, held, lying, (), "2S")
    assert offer.worth() == 14
    assert sorted(len(yaku.cards) for yaku in offer.yaku()) == [4, 12]


STEP = examples(1, 128)
"""CI tries every 128th hand of the small decks, and scripts/release-check every hand."""
both_tables = pytest.mark.parametrize("values", [USUAL, MANY_YAKU], ids=["usual", "many"])


@both_tables
@pytest.mark.parametrize("ranks", ["JQKA", "A234"])
def test_a_hands_straight_with_the_ace_counts_as_in_the_rules(ranks: str, values: Values) -> None:
    """U-4: beside all other ranks, and one card more or less."""
    hand = tuple(Card(rank + "C") for rank in ranks)
    others = tuple(card for card in ONE_SUIT if card not in hand)
    compare(hand, others, values)
    for card in ONE_SUIT:
        compare(hand, (*others, Card(card[0] + "D")), values)
    for card in others:
        compare(hand, tuple(other for other in others if other != card), values)


@both_tables
@pytest.mark.parametrize(
    "missing",
    [
        0,
        pytest.param(1, marks=pytest.mark.long),
        pytest.param(2, marks=[pytest.mark.long, pytest.mark.repetition]),
    ],
)
def test_hands_with_an_ace_from_one_suit_count_as_in_the_rules(
    missing: int, values: Values
) -> None:
    """U-4: every hand of four cards with an ace beside the other ranks, without some of them."""
    hands = list(hands_with_ace(ONE_SUIT, (4,)))
    for hand in hands[:: max(1, len(hands) // examples(len(hands), 20))]:
        others = [card for card in ONE_SUIT if card not in hand]
        for field in combinations(others, len(others) - missing):
            compare(hand, field, values)


def compare_deck(deck: Cards, sizes: range, values: Values, step: int) -> None:
    """Compare some hands with aces of a deck, each beside all fields of these sizes."""
    for hand in list(hands_with_ace(deck))[::step]:
        for size in sizes:
            for field in fields_beside(deck, hand, size):
                compare(hand, field, values)


small_decks = pytest.mark.parametrize(
    "deck", [BOTH_ENDS, LOW_END, HIGH_END], ids=["both-ends", "low-end", "high-end"]
)


@pytest.mark.parametrize("values", quick_cases([USUAL, MANY_YAKU], 1), ids=["usual", "many"])
@small_decks
def test_hands_with_an_ace_from_small_decks_count_as_in_the_rules(
    deck: Cards, values: Values
) -> None:
    """U-4: some hands beside all fields of three and five cards."""
    compare_deck(deck, range(3, 6, 2), values, 150 // examples(8, 2))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "values",
    [
        pytest.param(USUAL, id="usual"),
        pytest.param(MANY_YAKU, id="many", marks=pytest.mark.repetition),
    ],
)
@small_decks
def test_all_hands_with_an_ace_from_small_decks_count_as_in_the_rules(
    deck: Cards, values: Values
) -> None:
    """U-4: every hand beside all fields of up to six cards."""
    compare_deck(deck, range(7), values, STEP)
