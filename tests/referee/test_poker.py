"""The comparison of poker hands (P-5.4, S-3.1 to S-3.3), with examples and another package."""

import random
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from phevaluator import evaluate_cards

from referee.games.shared.cards import DECK, RANK, SUIT, Card, cards
from referee.games.shared.poker import Category, HandValue, best_hand
from tests.examples import examples

LADDER = [
    ("2C 3D 4H 5S 7C", Category.HIGH_CARD, (7, 5, 4, 3, 2)),
    ("2C 3D 4H 6S 7C", Category.HIGH_CARD, (7, 6, 4, 3, 2)),
    ("9S JH QD KC AS", Category.HIGH_CARD, (14, 13, 12, 11, 9)),
    ("2C 2D 3H 4S 5C", Category.PAIR, (2, 5, 4, 3)),
    ("2C 2D 3H 4S AC", Category.PAIR, (2, 14, 4, 3)),
    ("3C 3D 2H 4S 5C", Category.PAIR, (3, 5, 4, 2)),
    ("AC AD KH QS JC", Category.PAIR, (14, 13, 12, 11)),
    ("2C 2D 3H 3S 4C", Category.TWO_PAIRS, (3, 2, 4)),
    ("2C 2D 3H 3S AC", Category.TWO_PAIRS, (3, 2, 14)),
    ("2C 2D 4H 4S 3C", Category.TWO_PAIRS, (4, 2, 3)),
    ("3C 3D 4H 4S 2C", Category.TWO_PAIRS, (4, 3, 2)),
    ("KC KD AH AS QC", Category.TWO_PAIRS, (14, 13, 12)),
    ("2C 2D 2H 3S 4C", Category.THREE_OF_A_KIND, (2, 4, 3)),
    ("2C 2D 2H AS KC", Category.THREE_OF_A_KIND, (2, 14, 13)),
    ("AC AD AH KS QC", Category.THREE_OF_A_KIND, (14, 13, 12)),
    ("AC 2D 3H 4S 5C", Category.STRAIGHT, (5,)),
    ("2C 3D 4H 5S 6C", Category.STRAIGHT, (6,)),
    ("TC JD QH KS AC", Category.STRAIGHT, (14,)),
    ("2C 3C 4C 5C 7C", Category.FLUSH, (7, 5, 4, 3, 2)),
    ("2H 3H 4H 6H 7H", Category.FLUSH, (7, 6, 4, 3, 2)),
    ("9S JS QS KS AS", Category.FLUSH, (14, 13, 12, 11, 9)),
    ("2C 2D 2H 3S 3C", Category.FULL_HOUSE, (2, 3)),
    ("2C 2D 2H AS AC", Category.FULL_HOUSE, (2, 14)),
    ("3C 3D 3H 2S 2C", Category.FULL_HOUSE, (3, 2)),
    ("2C 2D 2H 2S 3C", Category.FOUR_OF_A_KIND, (2, 3)),
    ("2C 2D 2H 2S AC", Category.FOUR_OF_A_KIND, (2, 14)),
    ("AC AD AH AS KC", Category.FOUR_OF_A_KIND, (14, 13)),
    ("AS 2S 3S 4S 5S", Category.STRAIGHT_FLUSH, (5,)),
    ("2D 3D 4D 5D 6D", Category.STRAIGHT_FLUSH, (6,)),
    ("TH JH QH KH AH", Category.STRAIGHT_FLUSH, (14,)),
]
"""Hands in ascending order, with their categories and ranks."""


@pytest.mark.parametrize(("hand", "category", "ranks"), LADDER)
def test_a_hand_has_the_category_of_the_rules(
    hand: str, category: Category, ranks: tuple[int, ...]
) -> None:
    """P-5.3, P-5.4, S-3.2."""
    assert best_hand(cards(hand)) == HandValue(category, ranks)


def test_hands_are_ordered_as_in_the_rules() -> None:
    """P-5.4, S-3.2, S-3.3."""
    for (lower, _, _), (higher, _, _) in pairwise(LADDER):
        assert best_hand(cards(lower)) < best_hand(cards(higher)), (lower, higher)


@pytest.mark.parametrize("hand", ["QC KD AH 2S 3C", "KC AD 2H 3S 4C", "JC QD KH AS 2C"])
def test_straights_do_not_wrap_around(hand: str) -> None:
    """P-5.4, S-3.3."""
    assert best_hand(cards(hand)).category is Category.HIGH_CARD


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2C 3D 4H 5S 7C", "2D 3H 4S 5C 7D"),
        ("2C 3C 4C 5C 7C", "2S 3S 4S 5S 7S"),
        ("KC KD 4H 5S 7C", "KH KS 4S 5C 7D"),
        ("TC JC QC KC AC", "TS JS QS KS AS"),
    ],
)
def test_suits_never_break_ties(first: str, second: str) -> None:
    """P-5.4, S-3.3."""
    assert best_hand(cards(first)) == best_hand(cards(second))


@pytest.mark.parametrize(
    ("seven", "five"),
    [
        ("2S 3S 4S 5S 9D AS 6H", "AS 2S 3S 4S 5S"),  # a straight flush below a straight
        ("2C 2D 3H 3S 4C 4D 9H", "4C 4D 3H 3S 9H"),  # three pairs
        ("2C 2D 3H 3S 4C 4D 2H", "2C 2D 2H 4C 4D"),  # a set and two pairs
        ("2C 2D 2H 3S 3C 3D 9H", "3S 3C 3D 2C 2D"),  # two sets
        ("5C 5D 5H 5S KC KD KH", "5C 5D 5H 5S KC"),  # four and three
        ("2C 2D 2H 2S 3C 3D AH", "2C 2D 2H 2S AH"),  # a kicker above a pair
        ("2C 3C 4C 5C 9C JC KC", "KC JC 9C 5C 4C"),  # seven of a suit
        ("2C 3D 4H 5S 6C 7D 8H", "4H 5S 6C 7D 8H"),  # seven in a row
        ("AC 2D 3H 4S 5C 6D KH", "2D 3H 4S 5C 6D"),  # the ace is not used
        ("2C 3C 4C 5C 6D 8C AS", "2C 3C 4C 5C 8C"),  # a flush beside a straight
        ("9C 9D 9H 9S TC JC QC", "9C 9D 9H 9S QC"),
        ("2C 4C 6C 8C AC AD AH", "AC 8C 6C 4C 2C"),  # a flush beside a set
        ("2C 4C 6C 8C TC TD 2D", "TC 8C 6C 4C 2C"),  # a flush beside two pairs
    ],
)
def test_the_best_five_of_seven_count(seven: str, five: str) -> None:
    """S-3.1."""
    assert best_hand(cards(seven)) == best_hand(cards(five))


@given(st.lists(st.sampled_from(DECK), min_size=5, max_size=7, unique=True), st.randoms())
def test_the_order_of_the_cards_does_not_matter(hand: list[Card], rng: random.Random) -> None:
    mixed = hand[:]
    rng.shuffle(mixed)
    assert best_hand(mixed) == best_hand(hand)


@given(st.lists(st.sampled_from(DECK), min_size=6, max_size=7, unique=True))
def test_a_hand_is_worth_the_best_five_of_its_cards(hand: list[Card]) -> None:
    """S-3.1."""
    assert best_hand(hand) == max(best_hand(five) for five in combinations(hand, 5))


def order_isomorphic(hands: list[tuple[Card, ...]]) -> None:
    """Fail unless both packages order the hands equally, with the same ties."""
    ours = {hand: best_hand(hand) for hand in hands}
    theirs = {hand: -int(evaluate_cards(*hand)) for hand in hands}
    pairs = sorted({(theirs[hand], ours[hand]) for hand in hands})
    for (their_low, our_low), (their_high, our_high) in pairwise(pairs):
        assert their_low < their_high
        assert our_low < our_high


@pytest.mark.parametrize("size", [5, 6, 7])
def test_another_package_orders_hands_equally(size: int) -> None:
    """P-5.4, S-3.2, S-3.3."""
    rng = random.Random(size)
    order_isomorphic([tuple(rng.sample(DECK, size)) for _ in range(examples(20_000, 5_000))])


def test_another_package_agrees_on_rich_hands() -> None:
    """S-3.1: packs of few ranks or one suit, where flushes, fours and full houses meet."""
    rng = random.Random(1946)
    hands = []
    for _ in range(examples(20_000, 10_000)):
        low = rng.randint(2, 10)
        near = [c for c in DECK if low <= RANK[c] <= low + 4 or SUIT[c] == 0]
        hands.append(tuple(rng.sample(near, 7)))
    order_isomorphic(hands)
    without_wild_cards = set(Category) - {Category.FIVE_OF_A_KIND}
    assert {best_hand(hand).category for hand in hands} == without_wild_cards


@pytest.mark.long
@pytest.mark.repetition
@pytest.mark.timeout(600)
def test_another_package_agrees_on_all_five_card_hands() -> None:
    """P-5.4, S-3.3."""
    worth: dict[int, HandValue] = {}
    for hand in combinations(sorted(DECK, key=lambda card: (RANK[card], SUIT[card])), 5):
        value = best_hand(hand)
        assert worth.setdefault(-int(evaluate_cards(*hand)), value) == value
    assert len(worth) == 7462
    assert [worth[place] for place in sorted(worth)] == sorted(worth.values())
